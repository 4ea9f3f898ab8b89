#!/bin/sh
# What doctor asks, as an operator's runbook asks it: one probe after the other with psql, redis-cli and curl, which PSQL, REDIS_CLI and CURL
# say how to run.
# Addresses and passwords come from the environment: PG*, REDIS_HOST, REDIS_PORT, REDISCLI_AUTH, MQ_URL, MQ_AUTH (curl's
# configuration file), API_URL, TOKEN_FORM (curl's configuration file), SERVICE_STATUS (a command), SERVICE_LOG, SERVICE_ENV, CPUINFO.
set -eu
curl() { $CURL "$@"; }
sql() { $PSQL -X -q -A -t -c "$1"; }
rabbit() { curl -sf -K "$MQ_AUTH" "$MQ_URL$1"; }
redis() { $REDIS_CLI -h "$REDIS_HOST" -p "$REDIS_PORT" "$@"; }

# database
sql "select version(), pg_postmaster_start_time(), pg_is_in_recovery()"
sql "select n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relname = 'databasechangeloglock'"
sql "select * from databasechangeloglock"
sql "select pid, usename, application_name, state, xact_start, query from pg_stat_activity where datname = current_database()"
sql "select count(*), current_setting('max_connections') from pg_stat_activity"
sql "select pg_size_pretty(pg_database_size(current_database()))"
sql "set work_mem = '64kB'; select count(*) from generate_series(1, 100000)"
sql "select clock_timestamp()"; date

# broker
rabbit /api/overview
rabbit '/api/queues/%2F?page=1&page_size=500&columns=name,durable,auto_delete,exclusive,type,messages,consumers'
rabbit /api/exchanges/%2F
rabbit /api/consumers/%2F
rabbit '/api/vhosts/%2F/connections?columns=name,user_provided_name'
rabbit /api/deprecated-features || true
rabbit /api/deprecated-features/used || true
rabbit /api/nodes
grep -c VENDOR_RABBIT_DURABLE "$SERVICE_ENV" || true

# sessions
redis info server
redis info memory
redis info stats
redis time; date
redis --scan --pattern 'spring:session:sessions:*' | head -n 20 | while read -r key; do
  redis hmget "$key" creationTime lastAccessedTime maxInactiveInterval
done

# service
sh -c "$SERVICE_STATUS"
grep -o -w -E 'avx|avx2|bmi1|bmi2|f16c|fma|abm|movbe' "$CPUINFO" | sort -u
curl -s -D - "$API_URL/api/management/health"
for try in 1 2 3 4 5; do curl -s -o /dev/null -w '%{time_total}\n' "$API_URL/api/management/health"; done
token=$(curl -sf -H 'Expect:' -H 'Accept: application/json' -K "$TOKEN_FORM" "$API_URL/api/uaa/oauth/token" | sed 's/.*"access_token":"\([^"]*\)".*/\1/')
printf 'header = "Authorization: Bearer %s"\n' "$token" | curl -sf -K - "$API_URL/api/uaa/me"
printf 'header = "Authorization: Bearer %s"\n' "$token" | curl -s -K - "$API_URL/api/migration/job"

# log
tail -c 8000000 "$SERVICE_LOG" | grep -E 'UnknownHostException|changelog lock|transient_nonexcl_queues|PRECONDITION_FAILED|HTTP FAILED|400 bad request' || true
