import { rowOf } from '../../../shared/core/rows.ts';
import { ConnectionDropped, type Simulator } from '../../simulator/state/options.ts';
import { type LocalRequest, type LocalResponse, problem } from '../machine/answer.ts';
import { answerAws, type Operations } from '../machine/aws-protocol.ts';
import { withBrowserScripts } from './browser-scripts.ts';
import { type Controls, createControl } from './control-routes.ts';

/** The stand-ins for AWS, the identity service and the providers, and the control routes, all under /_local. */
export interface LocalParts extends Controls {
  readonly operations: Operations;
  readonly simulator: Simulator;
}

export const createLocal = (sites: LocalParts): ((ask: LocalRequest) => Promise<LocalResponse | undefined>) => {
  const control = createControl(sites);
  const prefixes: Readonly<Record<string, (ask: LocalRequest) => Promise<LocalResponse | undefined>>> = {
    aws: (ask) => answerAws(sites.operations, ask),
    'identity-service': sites.identity.answer,
    providers: withBrowserScripts((ask) => forward(ask, sites.simulator.provider)),
    simulator: (ask) => forward(ask, sites.simulator.control),
  };
  return async (ask) => {
    const [, first = ''] = ask.path.split('/', 2);
    const site = rowOf(prefixes, first);
    if (site) return site({ ...ask, path: ask.path.slice(first.length + 1) });
    return (await control(ask)) ?? problem(404, `no such control route: ${ask.method} /_local${ask.path}`);
  };
};

/** Forwards the request to a handler of web Requests and Responses. */
const forward = async (
  ask: LocalRequest,
  site: (request: Request) => Promise<Response>,
): Promise<LocalResponse | undefined> => {
  const query = ask.query.size > 0 ? `?${ask.query.toString()}` : '';
  const hasBody = ask.method !== 'GET' && ask.method !== 'HEAD' && ask.body.length > 0;
  const request = new Request(`http://127.0.0.1${ask.path}${query}`, {
    method: ask.method,
    headers: requestHeaders(ask),
    ...(ask.signal && { signal: ask.signal }),
    ...(hasBody && { body: new Uint8Array(ask.body) }),
  });
  try {
    const response = await site(request);
    return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
  } catch (error) {
    if (error instanceof ConnectionDropped) return undefined;
    throw error;
  }
};

/** All headers except those about the connection. */
const requestHeaders = ({ headers }: LocalRequest): Record<string, string> => {
  const dropped = new Set(['connection', 'content-length', 'host', 'keep-alive', 'transfer-encoding', 'expect']);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name)));
};
