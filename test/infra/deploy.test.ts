/** @module The order of a deployment's steps and its failures, with a fake CDK CLI. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { deploy, type Given, type Steps } from '../../infra/deploy/deployment.ts';
import type { ComparedStage, FailedStack } from '../../infra/deploy/stage/deployed-stacks.ts';
import { type Account, AccountError } from '../../infra/deploy/stage/identity.ts';
import type { MovedRoutes } from '../../infra/deploy/stage/moved-routes.ts';
import type { RemovedStack } from '../../infra/deploy/stage/removed-stacks.ts';
import type { StackChange } from '../../infra/deploy/stage/stack-changes.ts';

const ACCOUNT: Account = { profile: 'prod', region: 'eu-west-1' };
const STACKS = ['payments-prod-data', 'payments-prod-api', 'payments-prod-front'] as const;

const NO_RIGHTS: StackChange['rights'] = { added: [], removed: [] };
const NEW_RIGHT: StackChange['rights'] = {
  added: [{ holder: 'ConfirmRole12345678', effect: 'allow', action: 's3:GetObject', on: '*' }],
  removed: [],
};
const stackChange = (name: string, change: Partial<StackChange> = {}): StackChange => ({
  name,
  isNew: false,
  resources: [{ id: 'Queue12345678', type: 'AWS::SQS::Queue', change: 'added', isCode: false }],
  rights: NO_RIGHTS,
  sections: [],
  ...change,
});

const CONSOLE: RemovedStack = {
  name: 'payments-prod-api-console',
  id: 'arn:console',
  isProtected: true,
  kept: ['log group Logs'],
  lost: [],
};
const ROLLED_BACK: FailedStack = {
  name: 'payments-prod-data',
  id: 'arn:data',
  status: 'ROLLBACK_COMPLETE',
  isProtected: true,
};

interface Results {
  /** The changes of each stack; no right changes by default. */
  readonly changes?: readonly StackChange[];
  readonly failed?: readonly FailedStack[];
  readonly blocked?: readonly string[];
  readonly protectionChanges?: readonly string[];
  readonly compare?: () => Promise<ComparedStage>;
  readonly identify?: () => Promise<string>;
  readonly synth?: number;
  /** The stack that CDK cannot deploy. */
  readonly failing?: string;
  /** What CDK prints for each stack. */
  readonly prints?: readonly string[];
  readonly approves?: boolean | undefined;
  readonly refused?: { readonly phase: string; readonly text: string };
  readonly warning?: string;
  readonly removed?: readonly RemovedStack[];
  readonly moved?: MovedRoutes;
}

const deployed = async (given: Partial<Given> = {}, results: Results = {}, account = ACCOUNT) => {
  const { changes = STACKS.map((name) => stackChange(name)), failed = [], blocked = [], removed = [] } = results;
  const order: string[] = [];
  const said: string[] = [];
  const done = (name: string): void => void order.push(name);
  const steps = {
    say: (line: string) => void said.push(line),
    ask: vi.fn(async (question: string) => {
      done(`asks: ${question}`);
      return results.approves;
    }),
    identify: vi.fn(results.identify ?? (async () => 'account 1 as arn:me')),
    check: vi.fn(async (...[, phase]: Parameters<Steps['check']>) => ({
      refused: results.refused?.phase === phase,
      text: results.refused?.phase === phase ? results.refused.text : (results.warning ?? ''),
    })),
    cdk: vi.fn(async (...[[command = '', name = ''], , onLine]: Parameters<Steps['cdk']>) => {
      done(command === 'synth' ? command : `${command} ${name}`);
      if (command === 'synth') return results.synth ?? 0;
      for (const line of results.prints ?? []) onLine?.(line);
      return name === results.failing ? 3 : 0;
    }),
    compare: vi.fn(
      results.compare ??
        (async () => ({ changes, failed, blocked, protectionChanges: results.protectionChanges ?? [] })),
    ),
    takeChangeSet: vi.fn(async (_account: Account, name: string) => [`${name}: CloudFormation would modify 1`]),
    statusOf: vi.fn(async () => 'UPDATE_ROLLBACK_COMPLETE'),
    webhooks: vi.fn(async () => {
      done('webhooks');
      return 'put';
    }),
    removedStacks: vi.fn(async () => removed),
    movedRoutes: vi.fn(async () => results.moved ?? { routes: [], obstacles: [] }),
    deleteRoutes: vi.fn(async (...[, routes]: Parameters<Steps['deleteRoutes']>) => {
      for (const { id } of routes) done(`deletes route ${id}`);
    }),
    destroy: vi.fn(async (...[, stacks]: Parameters<Steps['destroy']>) => {
      for (const { name } of stacks) done(`destroys ${name}`);
    }),
    deleteRouteSettings: vi.fn(async (...[, of]: Parameters<Steps['deleteRouteSettings']>) => {
      done(`limits of ${of} routes`);
      return [];
    }),
  };
  const exitCode = await deploy({ requireApproval: 'broadening', removedStacks: 'ask', ...given }, account, steps);
  return { exitCode, order, said, commands: steps.cdk.mock.calls.map(([args]) => args.join(' ')), ...steps };
};

const DEPLOYS = STACKS.map((name) => `deploy ${name}`);
const NOTHING_DEPLOYED = ['synth'];

describe('a deployment', () => {
  test('uses one profile and one region for all steps, builds once, and deploys the stacks in turn', async () => {
    const { exitCode, order, commands, cdk, webhooks, ask } = await deployed();
    expect(order).toEqual(['synth', 'limits of removed routes', ...DEPLOYS, 'webhooks', 'limits of unlimited routes']);
    expect(commands.slice(0, 2)).toEqual([
      'synth --quiet --profile prod',
      'deploy payments-prod-data --exclusively --app cdk.out --require-approval never --progress events --profile prod',
    ]);
    for (const [, variables] of cdk.mock.calls) expect(variables).toEqual({ AWS_REGION: 'eu-west-1', CHECKS: 'off' });
    expect(webhooks).toHaveBeenCalledExactlyOnceWith(ACCOUNT);
    expect(ask).not.toHaveBeenCalled();
    expect(exitCode).toBe(0);
  });

  test('lets each tool find its credentials if no profile is set', async () => {
    const { commands } = await deployed({}, {}, { region: 'eu-west-1' });
    expect(commands.filter((command) => command.includes('--profile'))).toEqual([]);
  });

  test('prints the account before the build', async () => {
    const { said } = await deployed();
    expect(said[0]).toBe('account 1 as arn:me');
  });

  test('shows wider rights first, then asks once for all stacks', async () => {
    const changes = STACKS.map((name) => stackChange(name, { rights: NEW_RIGHT }));
    const { exitCode, order, said } = await deployed({}, { changes, approves: true });
    expect(order.slice(0, 3)).toEqual(['synth', 'asks: Deploy these changes?', 'limits of removed routes']);
    expect(said.slice(2, 8)).toEqual([
      'rights that change:',
      '  ConfirmRole, ConfirmRole, ConfirmRole',
      '    + allow s3:GetObject on *',
      'payments-prod-data: 1 added',
      'payments-prod-api: 1 added',
      'payments-prod-front: 1 added',
    ]);
    expect(exitCode).toBe(0);
  });

  test('asks before every change with any-change, and asks nothing with never', async () => {
    const any = await deployed({ requireApproval: 'any-change' }, { approves: true });
    expect(any.ask).toHaveBeenCalledOnce();
    const unchanged = STACKS.map((name) => stackChange(name, { resources: [] }));
    const nothing = await deployed({ requireApproval: 'any-change' }, { changes: unchanged });
    expect(nothing.ask).not.toHaveBeenCalled();
    const changes = [stackChange('payments-prod-api', { rights: NEW_RIGHT })];
    const never = await deployed({ requireApproval: 'never' }, { changes });
    expect([never.exitCode, never.ask.mock.calls]).toEqual([0, []]);
  });

  test.each([[false], [undefined]])('deploys nothing if the operator replies %s', async (approves) => {
    const changes = [stackChange('payments-prod-api', { rights: NEW_RIGHT })];
    const { exitCode, order, said } = await deployed({}, { changes, approves });
    expect([exitCode, order]).toEqual([1, ['synth', 'asks: Deploy these changes?']]);
    expect(said.at(-1)).toBe('nothing is deployed');
    expect(said.includes('the changes need approval at a terminal, or --require-approval never')).toBe(
      approves === undefined,
    );
  });

  test('shows warnings and continues', async () => {
    const { exitCode, said } = await deployed({}, { warning: 'warning: low' });
    expect([exitCode, said.includes('warning: low')]).toEqual([0, true]);
  });

  test('leaves the stacks unchanged if only the webhooks are requested', async () => {
    const refused = { phase: 'settings', text: 'refused: too much' };
    const { exitCode, order, webhooks } = await deployed({ webhooksOnly: true }, { refused });
    expect([exitCode, order]).toEqual([0, ['webhooks']]);
    expect(webhooks).toHaveBeenCalledExactlyOnceWith(ACCOUNT);
  });

  test('prints the outputs of the stacks, without the exports', async () => {
    const prints = ['payments-prod-api.BaseUrl = https://a', 'payments-prod-api.ExportsOutputRefX = 1'];
    const { said } = await deployed({}, { prints });
    expect(said.filter((line) => line.includes(' = '))).toEqual(['payments-prod-api: BaseUrl = https://a']);
  });
});

describe('a failed deployment', () => {
  test.each([
    ['settings', []],
    ['account', []],
    ['build', ['synth']],
  ])('stops at the checks of the %s, and prints every finding and the next step', async (phase, order) => {
    const result = await deployed({}, { refused: { phase, text: 'refused: too much' } });
    expect([result.exitCode, result.order]).toEqual([1, order]);
    expect(result.said.slice(-2)).toEqual([
      'refused: too much',
      'nothing is deployed; to deploy in spite of these findings: npm run deploy -- --force',
    ]);
  });

  test('stops before the build if credentials are missing', async () => {
    const identify = async (): Promise<string> => {
      throw new AccountError('no AWS credentials');
    };
    await expect(deployed({}, { identify })).rejects.toThrow('no AWS credentials');
  });

  test('deploys nothing, not even an earlier build, if the build fails', async () => {
    const { exitCode, order } = await deployed({}, { synth: 2 });
    expect([exitCode, order]).toEqual([2, NOTHING_DEPLOYED]);
  });

  test.each(['never', 'broadening', 'any-change'] as const)(
    'asks nothing if the comparison fails (--require-approval %s)',
    async (requireApproval) => {
      const compare = async (): Promise<ComparedStage> => {
        throw new Error('the deployed template of payments-prod-api cannot be read: AccessDenied');
      };
      const { exitCode, order, said } = await deployed({ requireApproval }, { compare, approves: true });
      expect([exitCode, order]).toEqual([1, NOTHING_DEPLOYED]);
      expect(said.slice(-2)).toEqual([
        'the deployed template of payments-prod-api cannot be read: AccessDenied',
        'the changes are not known, so nothing is deployed',
      ]);
    },
  );

  test('lists the deployed and the missing stacks if the third stack fails', async () => {
    const names = [...STACKS, 'payments-prod-late'];
    const prints = ['x | 3/9 | 10:00:00 AM | UPDATE_FAILED | AWS::SQS::Queue | Q "no such key"', 'last line'];
    const failing = 'payments-prod-front';
    const changes = names.map((name) => stackChange(name));
    const { exitCode, order, said, webhooks } = await deployed({}, { changes, failing, prints });
    expect([exitCode, order]).toEqual([3, ['synth', 'limits of removed routes', ...DEPLOYS]]);
    expect(said.slice(-8)).toEqual([
      'payments-prod-front: failed, 0 s',
      `  ${prints[0]}`,
      '  last line',
      'the deployment failed after 0 s',
      'deployed: payments-prod-data, payments-prod-api',
      'failed: payments-prod-front (UPDATE_ROLLBACK_COMPLETE)',
      'not deployed, as before: payments-prod-late',
      'the webhooks stay as they are',
    ]);
    expect(webhooks).not.toHaveBeenCalled();
  });

  test('stops if another change of a stack is in progress', async () => {
    const blocked = ['payments-prod-api is UPDATE_IN_PROGRESS: wait until that change has ended'];
    const { exitCode, order, said } = await deployed({}, { blocked });
    expect([exitCode, order]).toEqual([1, NOTHING_DEPLOYED]);
    expect(said.slice(-2)).toEqual([...blocked, 'nothing is deployed']);
  });
});

describe('a stack whose first creation failed', () => {
  const failed = { failed: [ROLLED_BACK] };

  test('is deleted if the operator agrees, before the stacks are deployed', async () => {
    const { exitCode, order, said } = await deployed({}, { ...failed, approves: true });
    expect(said).toContain(
      'payments-prod-data is ROLLBACK_COMPLETE: its first creation failed, so it must be deleted before it can be ' +
        'created again; its termination protection is turned off for this',
    );
    expect(order.slice(0, 4)).toEqual([
      'synth',
      'asks: Delete payments-prod-data now?',
      'limits of removed routes',
      'destroys payments-prod-data',
    ]);
    expect(exitCode).toBe(0);
  });

  test.each([[false], [undefined]])('stays if the operator replies %s, and nothing is deployed', async (approves) => {
    const { exitCode, destroy, order } = await deployed({}, { ...failed, approves });
    expect([exitCode, destroy.mock.calls]).toEqual([1, []]);
    expect(order.at(-1)).toBe('asks: Delete payments-prod-data now?');
  });

  test('is deleted without a question with --removed-stacks destroy', async () => {
    const { exitCode, ask, destroy } = await deployed({ removedStacks: 'destroy' }, failed);
    expect([exitCode, ask.mock.calls, destroy.mock.calls[0]]).toEqual([0, [], [ACCOUNT, [ROLLED_BACK]]]);
  });
});

describe('deployed stacks missing from the build', () => {
  const removed = { removed: [CONSOLE] };

  test('are named with their data, and destroyed after the other stacks are deployed', async () => {
    const { exitCode, order, said } = await deployed({}, { ...removed, approves: true });
    expect(said).toContain(
      'payments-prod-api-console is no longer part of the stage; kept without a stack: log group Logs',
    );
    expect(order).toEqual([
      'synth',
      'asks: Destroy these stacks after the deployment?',
      'limits of removed routes',
      ...DEPLOYS,
      'webhooks',
      'limits of unlimited routes',
      'destroys payments-prod-api-console',
    ]);
    expect(exitCode).toBe(0);
  });

  test.each([[false], [undefined]])('stop the deployment if the operator replies %s', async (approves) => {
    const { exitCode, order, destroy, deleteRouteSettings } = await deployed({}, { ...removed, approves });
    expect([exitCode, order]).toEqual([1, ['synth', 'asks: Destroy these stacks after the deployment?']]);
    expect(destroy).not.toHaveBeenCalled();
    expect(deleteRouteSettings).not.toHaveBeenCalled();
  });

  test('need an option without a terminal', async () => {
    const { said } = await deployed({}, { ...removed, approves: undefined });
    expect(said).toContain('the changes need approval at a terminal, or --removed-stacks destroy or keep');
    const destroyed = await deployed({ removedStacks: 'destroy' }, removed);
    expect(destroyed.destroy).toHaveBeenCalledExactlyOnceWith(ACCOUNT, [CONSOLE]);
    const kept = await deployed({ removedStacks: 'keep' }, removed);
    expect([kept.exitCode, kept.destroy.mock.calls]).toEqual([0, [[ACCOUNT, []]]]);
  });

  test('stay if the deployment of the other stacks fails', async () => {
    const { destroy } = await deployed({ removedStacks: 'destroy' }, { ...removed, failing: STACKS[0] });
    expect(destroy).not.toHaveBeenCalled();
  });
});

describe('routes that move to another stack', () => {
  const [, api, front] = STACKS;
  const moved: MovedRoutes = {
    routes: [
      { id: 'one', stack: api },
      { id: 'two', stack: front },
    ],
    obstacles: [],
  };
  const NOTE = `${api} gets routes of former stacks (1); they answer 404 while it is deployed, for some minutes`;

  test('are named before the question, and deleted right before their new stack is deployed', async () => {
    const { order, said } = await deployed({ removedStacks: 'keep' }, { removed: [CONSOLE], moved });
    expect(said).toContain(NOTE);
    expect(order.slice(2, -2)).toEqual([DEPLOYS[0], 'deletes route one', DEPLOYS[1], 'deletes route two', DEPLOYS[2]]);
  });

  test('are named by a plan, and stay', async () => {
    const { said, deleteRoutes } = await deployed({ plan: true }, { moved });
    expect(said).toContain(NOTE);
    expect(deleteRoutes).not.toHaveBeenCalled();
  });

  test('stay if an earlier stack fails, and are named if their own stack fails', async () => {
    expect((await deployed({}, { moved, failing: STACKS[0] })).deleteRoutes.mock.calls).toEqual([[ACCOUNT, []]]);
    const { said, order } = await deployed({}, { moved, failing: api });
    expect(order).not.toContain('deletes route two');
    expect(said).toContain(`${api}: until it is deployed, its moved routes (1) answer 404; run this command again`);
  });

  test('stop the deployment before its question if they cannot move', async () => {
    const { exitCode, order, said } = await deployed({}, { moved: { routes: [], obstacles: ['reserved twice'] } });
    expect([exitCode, order]).toEqual([1, NOTHING_DEPLOYED]);
    expect(said.slice(-2)).toEqual(['reserved twice', 'nothing is deployed']);
  });
});

describe('a plan', () => {
  test('shows changes and change sets of existing stacks, asks nothing and changes nothing', async () => {
    const changes = [
      stackChange('payments-prod-data', { rights: NEW_RIGHT }),
      stackChange('payments-prod-new', { isNew: true }),
    ];
    const result = await deployed({ plan: true }, { changes, failed: [ROLLED_BACK], removed: [CONSOLE] });
    expect(result.commands.slice(1)).toEqual([
      'deploy payments-prod-data --exclusively --app cdk.out --require-approval never --progress events ' +
        '--method prepare-change-set --change-set-name payments-plan --profile prod',
    ]);
    expect(result.order).toEqual(['synth', 'deploy payments-prod-data']);
    expect(result.said).toContain('payments-prod-new (new): 1 added');
    expect(result.said.slice(-2)).toEqual([
      'payments-prod-data: CloudFormation would modify 1',
      'this was a plan: nothing is deployed',
    ]);
    expect(result.exitCode).toBe(0);
  });

  test('makes no change set if that would change the termination protection', async () => {
    const { order, said } = await deployed({ plan: true }, { protectionChanges: [...STACKS] });
    expect(order).toEqual(['synth']);
    expect(said).toContain('payments-prod-data: its termination protection would change');
  });

  test('fails if a change set cannot be made', async () => {
    const { exitCode, said } = await deployed({ plan: true }, { failing: STACKS[1] });
    expect(said).toContain('payments-prod-api: its change set could not be made');
    expect(exitCode).toBe(3);
  });

  test('stops at a failed check of the stage', async () => {
    const result = await deployed({ plan: true }, { refused: { phase: 'build', text: 'refused: much' } });
    expect([result.exitCode, result.said.at(-1)]).toEqual([1, 'this stage would not be deployed']);
  });
});

describe('a release that changes only code', () => {
  const code = { id: 'F12345678', type: 'AWS::Lambda::Function', change: 'changed', isCode: true } as const;
  const changes = STACKS.map((name) => stackChange(name, { resources: [code] }));

  test('deploys all stacks in parallel, and says so', async () => {
    const { exitCode, said, order } = await deployed({}, { changes });
    expect(said).toContain('only the code of functions changes, so all stacks are deployed at the same time');
    expect([exitCode, order.filter((step) => step.startsWith('deploy'))]).toEqual([0, DEPLOYS]);
  });

  test('finishes every started stack, even if one stack fails', async () => {
    const { exitCode, said } = await deployed({}, { changes, failing: STACKS[0] });
    expect(exitCode).toBe(3);
    expect(said).toContain('deployed: payments-prod-api, payments-prod-front');
    expect(said).toContain('not deployed, as before: none');
  });
});

describe('the progress of a stack', () => {
  afterEach(() => void vi.useRealTimers());

  test('is printed every 15 seconds, with CDK’s count of resources', async () => {
    vi.useFakeTimers();
    const said: string[] = [];
    const { runStacks } = await import('../../infra/deploy/stack-runs.ts');
    const run = (_args: readonly string[], onLine?: (line: string) => void) =>
      new Promise<number>((done) => {
        onLine?.('payments-prod-api | 12/45 | 10:22:33 AM | CREATE_COMPLETE | AWS::SQS::Queue | Q');
        setTimeout(() => done(0), 70_000);
      });
    const runs = runStacks(
      { say: (line) => said.push(line), run, verbose: false, done: 'deployed' },
      ['payments-prod-api'],
      { options: [], parallel: false },
    );
    await vi.advanceTimersByTimeAsync(70_000);
    expect(await runs).toMatchObject([{ name: 'payments-prod-api', code: 0, elapsed: '1 min 10 s' }]);
    expect(said.slice(0, 1)).toEqual(['payments-prod-api: 12 of 45 resources, in progress, 15 s']);
    expect(said.slice(-1)).toEqual(['payments-prod-api: deployed, 1 min 10 s']);
  });
});
