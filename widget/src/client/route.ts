// A client module: notifies the panel, if loaded, of a page change.

export const ROUTE_EVENT = 'bookrag:route';

export function onRouteDidUpdate(): void {
  dispatchEvent(new Event(ROUTE_EVENT));
}
