/** @module Reads the stacks of the last synth in `cdk.out`, in deployment order. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { parseTemplate, type StackTemplate } from './template.ts';

export interface BuiltStack {
  readonly name: string;
  readonly isProtected: boolean;
  readonly template: StackTemplate;
}

const manifestSchema = z.object({
  artifacts: z.record(
    z.string(),
    z.object({
      type: z.string(),
      dependencies: z.array(z.string()).default([]),
      properties: z
        .object({
          templateFile: z.string().optional(),
          stackName: z.string().optional(),
          terminationProtection: z.boolean().default(false),
        })
        .optional(),
    }),
  ),
});
type Artifacts = z.infer<typeof manifestSchema>['artifacts'];

/** @returns each stack after its dependencies. @throws if `folder` holds no synthesized app. */
export const readBuiltStacks = (folder: string): readonly BuiltStack[] => {
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
  const { artifacts } = manifestSchema.parse(JSON.parse(read('manifest.json')));
  return inOrder(artifacts).flatMap((id) => {
    const { type, properties } = artifacts[id] ?? {};
    const file = type === 'aws:cloudformation:stack' ? properties?.templateFile : undefined;
    return file === undefined
      ? []
      : [
          {
            name: properties?.stackName ?? id,
            isProtected: properties?.terminationProtection ?? false,
            template: parseTemplate(read(file)),
          },
        ];
  });
};

const inOrder = (artifacts: Artifacts): readonly string[] => {
  const ordered = new Set<string>();
  const visit = (id: string): void => {
    if (ordered.has(id)) return;
    for (const before of artifacts[id]?.dependencies ?? []) visit(before);
    ordered.add(id);
  };
  for (const id of Object.keys(artifacts)) visit(id);
  return [...ordered];
};
