import { readProgress } from './progress-reader.ts';

test.each([
  [
    'ollama',
    'pulling 8daa9615cce3:  45% ▕████      ▏ 2.1 GB/4.7 GB  110 MB/s     23s',
    { status: 'pulling', progress: 45, downloadedBytes: 2_100_000_000, totalBytes: 4_700_000_000 },
  ],
  [
    'vLLM',
    'Loading safetensors checkpoint shards:  50% Completed | 2/4 [00:03<00:03,  1.62s/it]',
    { status: 'loading', progress: 50 },
  ],
  [
    'tqdm',
    'model-00001-of-00004.safetensors:  12%|█▏        | 598M/4.98G [00:05<00:36, 119MB/s]',
    { status: 'loading', progress: 12, downloadedBytes: 598_000_000, totalBytes: 4_980_000_000 },
  ],
  [
    'a download in binary units',
    'Downloading: 3.5% 10 MiB / 1 GiB',
    { status: 'pulling', progress: 3.5, downloadedBytes: 10_485_760, totalBytes: 1_073_741_824 },
  ],
])('the progress of %s is parsed', (_engine, line, expected) => {
  expect(readProgress(line, 'loading')).toEqual(expected);
});

test('a percentage alone belongs to the current phase of the engine', () => {
  expect(readProgress('12 %', 'pulling')).toEqual({ status: 'pulling', progress: 12 });
});

test.each(['', 'ready', 'used 120% of the estimate', 'gpu memory utilization 0.9', '100 tokens/s'])(
  '%p contains no progress',
  (line) => {
    expect(readProgress(line, 'loading')).toBeUndefined();
  },
);
