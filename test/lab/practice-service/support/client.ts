import { seedUsers } from '../../../../src/lab/practice-service/data/seeds.ts'

export const [admin, owner, guest] = seedUsers as [
  (typeof seedUsers)[number],
  (typeof seedUsers)[number],
  (typeof seedUsers)[number],
]

/** Exchanges an API token; the answer as it came. */
export function exchange(url: string, token: string): Promise<Response> {
  const body = new FormData()
  for (const [name, value] of Object.entries({ grant_type: 'apitoken', scope: 'openid', token }))
    body.append(name, value)
  return fetch(`${url}/api/uaa/oauth/token`, { method: 'POST', body, headers: { accept: 'application/json' } })
}

/** Calls as a user with a fresh Bearer token. */
export async function caller(
  url: string,
  user: { apiToken: string },
): Promise<(path: string, method?: string) => Promise<Response>> {
  const { access_token: token } = (await (await exchange(url, user.apiToken)).json()) as { access_token: string }
  return (path, method = 'GET') => fetch(`${url}${path}`, { method, headers: { authorization: `Bearer ${token}` } })
}

/** A browser that keeps its cookies. */
export function browser(url: string): {
  cookies: Map<string, string>
  open(path: string): Promise<Response>
  signIn(username: string, password: string, csrf?: string): Promise<Response>
} {
  const cookies = new Map<string, string>()
  const send = async (path: string, init: RequestInit): Promise<Response> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(`${url}${path}`, {
      ...init,
      headers: { ...init.headers, ...(cookie ? { cookie } : {}) },
    })
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (name) cookies.set(name, decodeURIComponent(value!))
    }
    return answer
  }
  return {
    cookies,
    open: (path) => send(path, {}),
    signIn: (username, password, csrf = cookies.get('XSRF-TOKEN') ?? '') =>
      send('/api/login/system', {
        method: 'POST',
        headers: { 'x-xsrf-token': csrf },
        body: new URLSearchParams({ username, password }),
      }),
  }
}
