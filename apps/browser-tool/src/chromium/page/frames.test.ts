import { createFrameTree } from './frames.ts';

const document = (loaderId: string, url: string) => ({ id: 'F', loaderId, url });

test('a list of frames that arrives late does not replace a newer document', () => {
  const tree = createFrameTree();
  tree.seed({ frame: document('L1', 'about:blank') }, 'S');
  tree.handle({
    method: 'Page.frameNavigated',
    params: { frame: document('L2', 'http://127.0.0.1/next'), type: 'Navigation' },
    sessionId: 'S',
  } as Parameters<typeof tree.handle>[0]);
  tree.seed({ frame: document('L1', 'about:blank') }, 'S');
  expect(tree.find('F')).toMatchObject({ loaderId: 'L2', url: 'http://127.0.0.1/next' });
  // The same frame in another process is another document.
  tree.move('F', 'T');
  tree.seed({ frame: document('L3', 'http://localhost/other') }, 'T');
  expect(tree.find('F')).toMatchObject({ loaderId: 'L3', url: 'http://localhost/other' });
});
