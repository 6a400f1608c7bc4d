// Failures, grouped by what a reader can do about them.

export type FailureKind =
  /** This device has no network. */
  | 'offline'
  /** The server does not respond, or the browser withholds its response. */
  | 'unreachable'
  /** Too many questions: wait. */
  | 'limited'
  /** The server cannot answer now. */
  | 'unavailable'
  /** Readers must sign in. */
  | 'unauthorized'
  /** The question itself was refused. */
  | 'rejected'
  /** The answer was interrupted. */
  | 'broken'
  /** A bug of the server, or a response of something else, such as a proxy. */
  | 'unexpected';

export interface Failure {
  kind: FailureKind;
  /** The earliest time to ask again, in milliseconds since 1970. */
  retryAt?: number;
  /** The server's message, if only it says what is wrong. */
  message?: string;
}

export class ApiError extends Error {
  constructor(readonly failure: Failure) {
    super(failure.message ?? failure.kind);
  }
}

/** Converts anything thrown to a failure. */
export function failureOf(error: unknown): Failure {
  if (error instanceof ApiError) return error.failure;
  const isOffline = typeof navigator !== 'undefined' && navigator.onLine === false;
  return { kind: isOffline ? 'offline' : 'unreachable' };
}

interface ErrorBody {
  message?: unknown;
  retry_after?: unknown;
}

/** Returns the failure of a response other than 2xx. Proxies respond without the API's envelope. */
export async function failureIn(response: Response): Promise<Failure> {
  const envelope: { error?: ErrorBody | null } = await response.json().catch(() => ({}));
  const error = envelope?.error ?? {};
  const seconds = Number(error.retry_after ?? response.headers.get('Retry-After') ?? undefined);
  const failure: Failure = { kind: kindOf(response.status) };
  if (seconds > 0) failure.retryAt = Date.now() + seconds * 1000;
  if (failure.kind === 'rejected' && typeof error.message === 'string') failure.message = error.message;
  return failure;
}

function kindOf(status: number): FailureKind {
  if (status === 429) return 'limited';
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 400 || status === 413) return 'rejected';
  return status === 502 || status === 503 || status === 504 ? 'unavailable' : 'unexpected';
}
