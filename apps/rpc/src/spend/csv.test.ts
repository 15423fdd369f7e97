import { csvLine } from './csv.ts';

test.each([
  { why: 'plain', cell: 'gpt-4o', text: 'gpt-4o' },
  { why: 'nothing', cell: null, text: '' },
  { why: 'a number', cell: -1.5, text: '-1.5' },
  { why: 'a comma', cell: 'a,b', text: '"a,b"' },
  { why: 'quotes', cell: 'a "b"', text: '"a ""b"""' },
  { why: 'a line end', cell: 'a\nb', text: '"a\nb"' },
  { why: 'a formula', cell: '=1+1', text: "'=1+1" },
  { why: 'a formula with plus', cell: '+1', text: "'+1" },
  { why: 'a formula with minus', cell: '-1', text: "'-1" },
  { why: 'a formula with at', cell: '@SUM(A1)', text: "'@SUM(A1)" },
  { why: 'a formula with a wide sign', cell: '＝1＋1', text: "'＝1＋1" },
  { why: 'a formula after a tab', cell: '\t=1', text: "'\t=1" },
  { why: 'a formula after a line end', cell: '\r=1', text: '"\'\r=1"' },
  { why: 'a formula with a comma', cell: '=HYPERLINK("x",1)', text: '"\'=HYPERLINK(""x"",1)"' },
])('$why', ({ cell, text }) => {
  expect(csvLine([cell, 'end'])).toBe(`${text},end\r\n`);
});
