import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dockerfilePath } from './dockerfile.ts';
import { infraFolder } from './infra-folder.ts';

const OWN = /^(registry\.example\.com\/)?model-gateway\//;
const PINNED = /^[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}$/;

/** Every image of others that a file builds on or starts. */
function foreignImages(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8');
  const named = file === dockerfilePath ? /^ARG NODE_IMAGE=(.+)$/gm : /^\s*image: *(\S+)$/gm;
  return [...text.matchAll(named)]
    .map(([, name = '']) => name.replace(/^\$\{\w+:-(.*)\}$/, '$1'))
    .filter((name) => !OWN.test(name) && !name.startsWith("'{{"));
}

const manifests = readdirSync(infraFolder, { recursive: true, encoding: 'utf8' })
  .filter((name) => /^(compose[^/]*|k8s\/.*)\.yaml$/.test(name))
  .map((name) => join(infraFolder, name));
const images = [dockerfilePath, ...manifests].flatMap(foreignImages);

test('every base image and store is pinned by version and digest', () => {
  expect(images.filter((image) => !PINNED.test(image))).toEqual([]);
});

test('each is the same in every file', () => {
  const names = [...new Set(images)].toSorted().map((image) => image.split(':', 1)[0]);
  expect(names).toEqual(['node', 'postgres', 'redis']);
});

test('nothing else is fetched to build an image', () => {
  const text = readFileSync(dockerfilePath, 'utf8');
  expect(text).not.toMatch(/^# *syntax=/m);
  const bases = [...text.matchAll(/^FROM (\S+)/gm)].map(([, base = '']) => base);
  const stages = [...text.matchAll(/^FROM \S+ AS (\S+)$/gm)].map(([, stage = '']) => stage);
  const outside = bases.filter((base) => !stages.includes(base) && base !== 'system-${APP}');
  expect([...new Set(outside)]).toEqual(['${NODE_IMAGE}']);
});
