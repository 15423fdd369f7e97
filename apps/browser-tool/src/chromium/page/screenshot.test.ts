import { CdpError } from '../cdp-connection.ts';
import { screenshot } from './screenshot.ts';

test('an image that the browser cannot draw is reported with its size', async () => {
  const view = { pageX: 0, pageY: 0, clientWidth: 10_000, clientHeight: 10_000 };
  const page = {
    send: (method: string) =>
      method === 'Page.getLayoutMetrics'
        ? Promise.resolve({ cssVisualViewport: view, cssContentSize: { width: 0, height: 0 } })
        : Promise.reject(new CdpError(`${method}: Unable to capture screenshot`)),
  };
  const request = {
    target: undefined,
    fullPage: false,
    format: 'png',
    quality: undefined,
    maxDimension: 0,
    omitBackground: false,
    timeoutMs: 1_000,
  } as const;
  const call = { signal: new AbortController().signal };
  type Parts = Parameters<typeof screenshot>;
  const taken = screenshot(
    page as unknown as Parts[0],
    { deviceScaleFactor: 10 },
    undefined as unknown as Parts[2],
    undefined as unknown as Parts[3],
    request,
    call as Parts[5],
  );
  await expect(taken).rejects.toMatchObject({
    code: 'RESULT_TOO_LARGE',
    message: 'The browser could not draw an image of 100000x100000 pixels.',
  });
});
