/** What payctl cannot go on without did not answer, or there is no such thing. */
export class NotReachable extends Error {}

/** The control routes of the local host, under /_local. @throws NotReachable */
export type Control = (method: 'GET' | 'POST', path: string, body?: unknown) => Promise<unknown>;

export const openControl =
  (baseUrl: string): Control =>
  async (method, path, body) => {
    const url = `${baseUrl}/_local${path}`;
    const answer = await fetch(url, { method, ...(body !== undefined && { body: JSON.stringify(body) }) }).catch(
      (error: unknown) => {
        throw new NotReachable(`no local host answers at ${baseUrl} (npm start)`, { cause: error });
      },
    );
    const text = await answer.text();
    if (!answer.ok) throw new NotReachable(`${method} ${url}: ${answer.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
