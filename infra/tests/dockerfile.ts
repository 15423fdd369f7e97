import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  DockerfileParser,
  type Cmd,
  type Env,
  type Entrypoint,
  type From,
  type Instruction,
} from 'dockerfile-ast';
import { infraFolder } from './infra-folder.ts';

/** The parts of an image that define its process. */
export interface Image {
  readonly env: Readonly<Record<string, string>>;
  readonly entrypoint: readonly string[];
  readonly cmd: readonly string[];
  readonly user: string | undefined;
  readonly healthCheck: readonly string[] | undefined;
}

interface Stage {
  readonly name: string | null;
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

export const dockerfilePath: string = join(infraFolder, 'docker', 'Dockerfile');
export const dockerfileText: string = readFileSync(dockerfilePath, 'utf8');

/** The image of an app, including what its stages inherit. */
export function imageOf(app: string): Image {
  const instructions = lineage(readStages(app)).flatMap((stage) => stage.instructions);
  const last = (keyword: string): Instruction | undefined =>
    instructions.findLast((one) => one.getKeyword() === keyword);
  const words = (instruction: Entrypoint | Cmd | undefined): readonly string[] =>
    instruction?.getJSONStrings().map((one) => one.getJSONValue()) ?? [];
  const healthCheck = last('HEALTHCHECK')?.getRawArgumentsContent() ?? '';
  const env = instructions
    .filter((one): one is Env => one.getKeyword() === 'ENV')
    .flatMap((one) => one.getProperties())
    .map((property) => [property.getName(), property.getValue() ?? ''] as const);
  return {
    env: Object.fromEntries(env),
    entrypoint: words(last('ENTRYPOINT') as Entrypoint | undefined),
    cmd: words(last('CMD') as Cmd | undefined),
    user: last('USER')?.getArgumentsContent() ?? undefined,
    healthCheck: healthCheckOf(healthCheck),
  };
}

/** The stages whose names begin with `system-` are the apps that can be built. */
export const buildableApps = (): readonly string[] =>
  readStages('').flatMap(({ name }) =>
    name?.startsWith('system-') === true ? [name.slice('system-'.length)] : [],
  );

function readStages(app: string): readonly Stage[] {
  const stages: { name: string | null; base: string; instructions: Instruction[] }[] = [];
  for (const instruction of DockerfileParser.parse(dockerfileText).getInstructions()) {
    const keyword = instruction.getKeyword();
    if (keyword === 'FROM') {
      const from = instruction as From;
      const base = (from.getImage() ?? '').replaceAll('${APP}', app);
      stages.push({ name: from.getBuildStage(), base, instructions: [] });
    } else stages.at(-1)?.instructions.push(instruction);
  }
  return stages;
}

/** The last stage and its base stages, the lowest first. */
function lineage(stages: readonly Stage[]): readonly Stage[] {
  const line: Stage[] = [];
  let stage = stages.at(-1);
  while (stage !== undefined) {
    line.unshift(stage);
    const { base } = stage;
    stage = stages.find(({ name }) => name === base);
  }
  return line;
}

function healthCheckOf(text: string): readonly string[] | undefined {
  const start = text.indexOf('[');
  return start < 0 ? undefined : (JSON.parse(text.slice(start)) as readonly string[]);
}
