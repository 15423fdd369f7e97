import { createSubtitleEnd } from './subtitle-end.ts';

const SUBRIP = '1\n00:00:00,000 --> 00:00:02,500\nHi\n\n2\n01:00:03,000 --> 01:02:03,250\nBye\n';
const WEBVTT = 'WEBVTT\n\n00:00.000 --> 01:30.000\nHi\n';

test.each([
  { what: 'SubRip', text: SUBRIP, seconds: 3723.25 },
  { what: 'WebVTT', text: WEBVTT, seconds: 90 },
  { what: 'a text without subtitles', text: 'see --> there', seconds: undefined },
])('the end of $what is found in whatever pieces it comes', ({ text, seconds }) => {
  for (let at = 0; at <= text.length; at += 1) {
    const end = createSubtitleEnd();
    end.add(text.slice(0, at));
    end.add(text.slice(at));
    expect(end.seconds).toBe(seconds);
  }
});
