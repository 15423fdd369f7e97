import { createGpuReader, parseGpus } from './gpus.ts';

test('the output of nvidia-smi is parsed, also with missing values', () => {
  const text =
    'NVIDIA L4, 23034, 512, 37\nNVIDIA A100-SXM4-80GB, 81920, [N/A], [Not Supported]\n\n';
  expect(parseGpus(text)).toEqual([
    { name: 'NVIDIA L4', memory_total_mb: 23_034, memory_used_mb: 512, utilization: 37 },
    { name: 'NVIDIA A100-SXM4-80GB', memory_total_mb: 81_920, memory_used_mb: 0, utilization: 0 },
  ]);
});

test('a machine without the tool has no GPUs', async () => {
  expect(await createGpuReader({ PATH: '/nowhere' })()).toEqual([]);
});
