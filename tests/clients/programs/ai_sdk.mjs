// A task of the AI SDK with its model for tests, which traces as docs/capture.md says.
import { NodeSDK } from '@opentelemetry/sdk-node';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { OpenTelemetry } from '@ai-sdk/otel';
import { generateText, registerTelemetry, stepCountIs, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';

const sdk = new NodeSDK({ traceExporter: new OTLPTraceExporter() });
sdk.start();
registerTelemetry(new OpenTelemetry());

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const turns = ['run_tests', 'edit_file', 'run_tests'];
let edited = false;
const doGenerate = async () => {
  const toolName = turns.shift();
  const said = toolName
    ? { type: 'tool-call', toolCallId: `call_${turns.length}`, toolName, input: '{"path":"cart.py"}' }
    : { type: 'text', text: 'The tests pass.' };
  const unified = toolName ? 'tool-calls' : 'stop';
  return { finishReason: { unified, raw: unified }, usage, warnings: [], content: [said] };
};
const inputSchema = z.object({ path: z.string() });
const answer = await generateText({
  model: new MockLanguageModelV4({ doGenerate }),
  prompt: 'Mend the failing tests of the cart',
  stopWhen: stepCountIs(9),
  tools: {
    run_tests: tool({
      inputSchema,
      execute: async () => (edited ? '12 passed' : '2 failed, 10 passed'),
    }),
    edit_file: tool({
      inputSchema,
      execute: async () => {
        edited = true;
        return 'edited';
      },
    }),
  },
});
console.log(answer.text);
await sdk.shutdown();
