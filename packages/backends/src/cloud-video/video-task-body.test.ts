import { videoTaskBody } from './video-task-body.ts';

const order = { model: 'v', prompt: 'a cat', duration: 6 };
const image = (data_base64: string) => ({ data_base64, mime_type: 'image/png' });

test.each([
  { width: 640, height: 480, resolution: '512P' },
  { width: 64, height: 64, resolution: '512P' },
  // As near to 512 as to 768.
  { width: 640, height: 640, resolution: '512P' },
  { width: 1280, height: 720, resolution: '768P' },
  { width: 720, height: 1280, resolution: '768P' },
  { width: 1920, height: 1080, resolution: '1080P' },
  { width: 4096, height: 4096, resolution: '1080P' },
  { width: 500, height: undefined, resolution: '512P' },
  { width: undefined, height: 4096, resolution: '1080P' },
])('$width x $height is sent as $resolution', ({ width, height, resolution }) => {
  expect(videoTaskBody({ ...order, width, height })).toEqual({ ...order, resolution });
});

test('without a size no resolution is sent', () => {
  expect(videoTaskBody(order)).toEqual(order);
});

test('images are sent as the first and the last frame, as data URLs', () => {
  expect(videoTaskBody({ ...order, images: [image('QQ==')] })).toEqual({
    ...order,
    first_frame_image: 'data:image/png;base64,QQ==',
  });
  expect(videoTaskBody({ ...order, images: [image('QQ=='), image('Qg==')] })).toEqual({
    ...order,
    first_frame_image: 'data:image/png;base64,QQ==',
    last_frame_image: 'data:image/png;base64,Qg==',
  });
});

test('more images are refused, and the backend is not at fault', () => {
  const images = ['QQ==', 'Qg==', 'Qw=='].map(image);
  expect(() => videoTaskBody({ ...order, images })).toThrow(
    expect.objectContaining({
      message: 'this video API takes at most 2 images: the first and the last frame',
      isBackendAtFault: false,
      hadNoEffect: false,
    }),
  );
});
