import { BRAINTREE } from './provider-subjects.ts';
import { testProvider } from './provider-suite.ts';

testProvider(BRAINTREE);
