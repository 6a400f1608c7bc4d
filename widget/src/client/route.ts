// A client module: tells the panel, if it is loaded, that another page is shown now.

export const ROUTE_EVENT = 'bookrag:route';

export function onRouteDidUpdate(): void {
  dispatchEvent(new Event(ROUTE_EVENT));
}
