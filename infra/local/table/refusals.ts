import { AwsError } from '../machine/aws-protocol.ts';

/** A request that DynamoDB refuses, whatever the table holds. */
export const invalidRequest = (message: string): AwsError => new AwsError('ValidationException', message);
