import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/**
 * The clock is in the past while the demo data are made, so outside requests wait. Otherwise they would get a time in
 * the past. The requests of the host itself, its functions and its stand-ins do not wait.
 */
export interface Door {
  /** Resolves when the request may be served. */
  enter(message: IncomingMessage): Promise<void>;
  /** The header of requests that do not wait. */
  readonly pass: Readonly<Record<string, string>>;
  open(): void;
  isOpen(): boolean;
}

const PASS = 'x-demo-data-pass';
/**
 * The paths that functions and the simulator call, pages, and `/health`, which reports that the host runs, never wait.
 */
const UNATTENDED =
  /^\/_local\/(?:aws|identity-service|providers)\/|\/webhooks\/provider_[a-d]$|\/(?:docs|console)(?:\/|$)|\/pay$|\/pay\/assets\/|^\/$|\/(?:health|openapi\.json|client\.tgz)$/;
const SINK = /^\/_local\/sink\/[^/]+$/;

export const createClosedDoor = (): Door => {
  const secret = randomUUID();
  let open = (): void => undefined;
  let isOpen = false;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const mayPass = ({ method, url = '/', headers }: IncomingMessage): boolean => {
    const path = url.split('?')[0] ?? '/';
    return headers[PASS] === secret || UNATTENDED.test(path) || (method === 'POST' && SINK.test(path));
  };
  return {
    enter: (message) => (mayPass(message) ? Promise.resolve() : opened),
    pass: { [PASS]: secret },
    open: () => {
      isOpen = true;
      open();
    },
    isOpen: () => isOpen,
  };
};
