/**
 * @module Values that stacks share. A stack writes a value to an SSM parameter, and later stacks read it during
 * deployment. Unlike an export, a parameter can change or be removed while other stacks use its value.
 */
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import type { Construct } from 'constructs';
import type { Stage } from '../stage/settings.ts';
import { constructId } from './service-function.ts';

interface SharedName {
  readonly stage: Stage;
  /** The name part of the stack that writes the value, such as `data`. */
  readonly part: string;
  readonly name: string;
}

const parameterName = ({ stage, part, name }: SharedName): string => `/payments/${stage}/${part}/${name}`;

export const writeShared = (scope: Construct, at: SharedName, value: string): void => {
  new StringParameter(scope, `Shared${constructId(at.name)}`, { parameterName: parameterName(at), stringValue: value });
};

/** Reads a value of a stack deployed earlier. A stack has one template parameter per value. */
export const readShared = (scope: Construct, at: SharedName): string =>
  StringParameter.valueForStringParameter(scope, parameterName(at));
