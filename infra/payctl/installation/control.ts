/**
 * payctl cannot continue, because a required service does not respond, a named record or file does not exist, or an
 * input is invalid.
 */
export class NotReachable extends Error {}

/** The control routes of the local host, under /_local. @throws NotReachable */
export type Control = (method: 'GET' | 'POST', path: string, body?: unknown) => Promise<unknown>;

export const openControl =
  (baseUrl: string): Control =>
  async (method, path, body) => {
    const url = `${baseUrl}/_local${path}`;
    const response = await fetch(url, { method, ...(body !== undefined && { body: JSON.stringify(body) }) }).catch(
      (error: unknown) => {
        throw new NotReachable(
          `no local host responds at ${baseUrl}; start it (npm start), or name another host by --url or PORT`,
          { cause: error },
        );
      },
    );
    const text = await response.text();
    if (!response.ok) throw new NotReachable(`${method} ${url}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
