// Fetches the pinned pnpm into .tools/pnpm, for the build of an image.
import { ensureTool } from './ensure-tool.mjs';

await ensureTool('pnpm');
