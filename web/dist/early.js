// Runs while the other scripts are on their way. It stores the key that a link left behind the `#`, for this address alone, and
// asks for the list that every page begins with.

const [, key] = /^#key=(\w+)$/.exec(location.hash) ?? []
if (key) {
  localStorage.setItem('backstory-key', key)
  history.replaceState(null, '', location.pathname + location.search)
}
// Whoever takes it sees whether it failed.
window.earlyRows = fetch('/api/v1/rows', { headers: { 'Backstory-Key': localStorage.getItem('backstory-key') ?? '' } })
window.earlyRows.catch(() => {})
