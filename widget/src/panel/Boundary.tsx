import { Component, type ReactNode } from 'react';

interface BoundaryProps {
  children: ReactNode;
  /** Shown instead of children that fail to render. */
  fallback: ReactNode;
}

/** Contains rendering errors, so that they do not break the site's page. */
export class Boundary extends Component<BoundaryProps, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    return this.state.hasFailed ? this.props.fallback : this.props.children;
  }
}
