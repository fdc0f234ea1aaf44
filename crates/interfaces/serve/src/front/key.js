// Gives a front end that knows nothing of it the key of this browser. It runs before the front end's own scripts: the link
// leaves the key behind the `#` of the first address, and it is stored for this address alone, to which the port belongs.
// A cookie, which every port of this machine gets, is worth nothing without it.
(() => {
  const NAME = "backstory-key";
  const found = /^#key=(\w+)$/.exec(location.hash);
  if (found) {
    localStorage.setItem(NAME, found[1]);
    history.replaceState(null, "", location.pathname + location.search);
  }
  const key = localStorage.getItem(NAME);
  if (!key) return;

  const own = (address) => {
    const url = new URL(address, location.href);
    return url.origin === location.origin && url.pathname.startsWith("/api") ? url : undefined;
  };
  /** The address with the key, for what sends no headers. */
  const withKey = (address) => {
    const url = own(address);
    url?.searchParams.set("key", key);
    return url?.href ?? address;
  };

  const { fetch, EventSource } = window;
  window.fetch = (input, init) => {
    const request = new Request(input, init);
    if (own(request.url)) request.headers.set(NAME, key);
    return fetch(request);
  };
  window.EventSource = class extends EventSource {
    constructor(address, options) {
      super(withKey(address), options);
    }
  };
  const open = XMLHttpRequest.prototype.open;
  XMLHttpRequest.prototype.open = function (method, address, ...rest) {
    open.call(this, method, address, ...rest);
    if (own(address)) this.setRequestHeader(NAME, key);
  };
  const openWindow = window.open;
  window.open = (address, ...rest) => openWindow.call(window, address ? withKey(address) : address, ...rest);
})();
