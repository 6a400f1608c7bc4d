// A client module: notifies the panel, if loaded, of a page change.

export function onRouteDidUpdate(): void {
  dispatchEvent(new Event('bookrag:route'));
}
