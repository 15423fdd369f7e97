#!/usr/bin/env node
import { readCliConfig, runCli } from './app.ts';

const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort());
// The reader of a pipe may stop early, as `head` does.
process.stdout.on('error', () => process.exit(0));

process.exitCode = await runCli(process.argv.slice(2), {
  config: readCliConfig(),
  terminal: process,
  signal: interrupt.signal,
});
