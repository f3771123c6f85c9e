import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/**
 * Holds outside requests while the clock is in the past for the demo data, so that no outside request happens at a past
 * time. Requests by the host itself, its functions and its stand-ins do not wait.
 */
export interface Door {
  /** Resolves when the request may continue. */
  enter(message: IncomingMessage): Promise<void>;
  /** The header that lets a request through the closed door. */
  readonly pass: Readonly<Record<string, string>>;
  open(): void;
  isOpen(): boolean;
}

const PASS = 'x-demo-data-pass';
/** Paths that never wait: calls by functions and the simulator, pages, and the host's health check. */
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
