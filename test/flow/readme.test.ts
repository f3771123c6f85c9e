import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { DEMO_DAYS, makeDemoData } from '../../infra/local/demo/demo-data.ts';
import { PATIENT } from './flow.ts';
import { type TestHost, withHost } from './host.ts';
import { isShown, stepsOf } from './tour.ts';

/** The tours of the docs, command by command, as a newcomer types them. */
const TOURS = [
  ['README.md', 'Five minutes'],
  ['docs/authentication.md', 'A subscription in the EU'],
] as const;
const LOCAL = 'http://127.0.0.1:3000';
const BREAK = '=== the next step';
const PATH = '/usr/local/bin:/usr/bin:/bin';
const canRun = spawnSync('bash', ['-c', 'command -v curl && command -v grep'], { env: { PATH } }).status === 0;

const inBash = (script: string, folder: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const bash = spawn('bash', ['-eu'], {
      cwd: folder,
      env: { PATH, TMPDIR: folder },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let out = '';
    bash.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    bash.on('error', reject);
    bash.on('close', (code) => (code === 0 ? resolve(out) : reject(new Error(`bash ended with ${code}: ${out}`))));
    bash.stdin.end(script);
  });

/** Runs the commands of a tour, and compares what each prints with what the page shows. */
const takeTour = async (service: TestHost, page: string, heading: string): Promise<void> => {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');
  const folder = mkdtempSync(join(tmpdir(), 'payments-readme-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const steps = stepsOf(text, heading);
  expect(steps.filter(({ shown }) => shown !== undefined).length).toBeGreaterThanOrEqual(5);
  const script = steps.map(
    ({ commands }) => `${commands.replaceAll(LOCAL, service.host().baseUrl)}\necho '${BREAK}'\n`,
  );
  const printed = (await inBash(script.join(''), folder)).split(BREAK);
  for (const [index, { commands, shown }] of steps.entries()) {
    const answer = printed[index] ?? '';
    expect({ commands, answer, isShown: isShown(shown ?? '', answer) }).toMatchObject({ isShown: true });
  }
};

const env = { EXTERNAL_WEBHOOKS_ENABLED: 'true', RATE_LIMITS: 'on' };

describe.skipIf(!canRun)('the tours of the docs (skipped where bash or curl is missing)', () => {
  const service = withHost({ env });

  test.each(TOURS)('of %s (%s) answers what is printed under each command', (page, heading) =>
    takeTour(service, page, heading),
  );

  test('would be found out', () => {
    expect(
      isShown('{"id":"pay_0123456789ab", … "status":"created"}', '{"id":"pay_a1b2c3d4e5f6","x":1,"status":"created"}'),
    ).toBe(true);
    expect(
      isShown('{"id":"pay_0123456789ab", … "status":"failed"}', '{"id":"pay_a1b2c3d4e5f6","x":1,"status":"created"}'),
    ).toBe(false);
    expect(isShown('{"id":"pay_0123456789ab"}', '{"id":"pay_a1b2c3d4e5f6","more":1}')).toBe(false);
  });
});

describe.skipIf(!canRun)('the first tour on a host with demo data', () => {
  const service = withHost({ env: { ...env, ...PATIENT }, daysAgo: DEMO_DAYS });

  // Making the demo data takes longer than the tour: it has the limit of a hook.
  beforeAll(async () => {
    const { baseUrl, door, clock } = service.host();
    await makeDemoData({ baseUrl, serviceUrl: baseUrl, pass: door?.pass ?? {}, now: clock.now });
    door?.open();
  });

  test('answers the same', () => takeTour(service, ...TOURS[0]));
});
