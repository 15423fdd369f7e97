import './markdown.css';
import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import { memo, useMemo, type ReactNode } from 'react';
import { CodeView } from './code-view.tsx';
import { safeAddress } from './safe-address.ts';

/** An answer in Markdown. It becomes elements and never HTML, so nothing in it can run or load anything. */
export function Markdown({ text }: { readonly text: string }) {
  const tokens = useMemo(() => lexer(text, { gfm: true, breaks: true }), [text]);
  return (
    <div className="markdown">
      <Blocks tokens={tokens} />
    </div>
  );
}

function Blocks({ tokens }: { readonly tokens: readonly Token[] }) {
  return tokens.map((token, place) => <Block key={place} token={token} />);
}

// While an answer is streamed, only its last block changes.
const Block = memo(
  ({ token }: { readonly token: Token }) => blockOf(token as MarkedToken),
  (one, other) => one.token.type === other.token.type && one.token.raw === other.token.raw,
);

function blockOf(token: MarkedToken): ReactNode {
  switch (token.type) {
    case 'heading':
      return <Heading depth={token.depth}>{inline(token.tokens)}</Heading>;
    case 'paragraph':
      return <p>{inline(token.tokens)}</p>;
    case 'code':
      return <CodeView code={token.text} language={token.lang ?? ''} />;
    case 'blockquote':
      return (
        <blockquote>
          <Blocks tokens={token.tokens} />
        </blockquote>
      );
    case 'list':
      return <List list={token} />;
    case 'table':
      return <Table table={token} />;
    case 'hr':
      return <hr />;
    case 'space':
    case 'def':
      return null;
    default:
      return inline([token]);
  }
}

/** The page has a heading of the first level, and the answer is a part of it. */
function Heading({ depth, children }: { readonly depth: number; readonly children: ReactNode }) {
  if (depth <= 1) return <h2>{children}</h2>;
  return depth === 2 ? <h3>{children}</h3> : <h4>{children}</h4>;
}

function List({ list }: { readonly list: Tokens.List }) {
  const items = list.items.map((item, place) => (
    <li key={place}>
      {item.task ? <input type="checkbox" checked={item.checked ?? false} disabled /> : null}
      <Blocks tokens={item.tokens.filter(({ type }) => type !== 'checkbox')} />
    </li>
  ));
  return list.ordered ? (
    <ol start={list.start === '' ? 1 : list.start}>{items}</ol>
  ) : (
    <ul>{items}</ul>
  );
}

function Table({ table }: { readonly table: Tokens.Table }) {
  const classOf = (column: number): string => (table.align[column] === 'right' ? 'number' : '');
  return (
    <div className="markdown-table" tabIndex={0} role="region">
      <table>
        <thead>
          <tr>
            {table.header.map((cell, column) => (
              <th key={column} scope="col" className={classOf(column)}>
                {inline(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, place) => (
            <tr key={place}>
              {row.map((cell, column) => (
                <td key={column} className={classOf(column)}>
                  {inline(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const inline = (tokens: readonly Token[] = []): ReactNode =>
  tokens.map((token, place) => <Inline key={place} token={token as MarkedToken} />);

function Inline({ token }: { readonly token: MarkedToken }): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong>{inline(token.tokens)}</strong>;
    case 'em':
      return <em>{inline(token.tokens)}</em>;
    case 'del':
      return <del>{inline(token.tokens)}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return <AnswerLink address={token.href}>{inline(token.tokens)}</AnswerLink>;
    // Its address may be a way to send what was said in the chat to another server.
    case 'image':
      return (
        <AnswerLink address={token.href}>{token.text === '' ? token.href : token.text}</AnswerLink>
      );
    case 'text':
      return token.tokens === undefined ? token.text : inline(token.tokens);
    case 'escape':
      return token.text;
    default:
      return token.raw;
  }
}

interface AnswerLinkProps {
  readonly address: string;
  readonly children: ReactNode;
}

function AnswerLink({ address, children }: AnswerLinkProps) {
  const safe = safeAddress(address);
  if (safe === undefined) return children;
  return (
    <a href={safe} target="_blank" rel="noreferrer nofollow">
      {children}
    </a>
  );
}
