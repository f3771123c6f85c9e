import { expect, test, vi } from 'vitest';
import { startTestHost, type TestHostOptions } from './host.ts';

/** Advances the clock minute by minute. @returns the value `failed` of each probe in the log */
const probesIn = async (minutes: number, options: TestHostOptions): Promise<readonly unknown[]> => {
  const service = await startTestHost({ frozen: true, ...options, env: { LOG_LEVEL: 'INFO', ...options.env } });
  const written = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation(() => true),
  );
  try {
    for (let minute = 0; minute < minutes; minute += 1) await service.advance(60);
    await service.settle();
    const lines = written.flatMap(({ mock }) => mock.calls.map(([line]) => String(line)));
    return lines.filter((line) => line.includes('"health probed"')).map((line) => JSON.parse(line).failed);
  } finally {
    vi.restoreAllMocks();
    await service.stop();
  }
};

test('HEALTH_CHECK=on probes the public address every minute', async () => {
  expect(await probesIn(3, { env: { HEALTH_CHECK: 'on' } })).toEqual([0, 0, 0]);
});

test('HEALTH_CHECK=on probes below the base path', async () => {
  expect(await probesIn(1, { env: { HEALTH_CHECK: 'on', BASE_PATH: '/pay' } })).toEqual([0]);
});

test('a local host has no health probe by default', async () => {
  expect(await probesIn(3, {})).toEqual([]);
});
