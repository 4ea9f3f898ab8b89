// What gitlab-ci-local takes from newer releases of Node than the oldest that this program runs on.
Set.prototype.union ??= function (other) {
  return new Set([...this, ...other.keys()])
}
