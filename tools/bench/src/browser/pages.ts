import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const ORDERS = 30;
const PRODUCTS = 39;
const LINKS =
  'Home Orders Customers Products Stock Suppliers Invoices Reports Settings Account Help';
const FIELDS = 'Name E-mail Street City Country';
const SIZES = 'Small Medium Large Huge';

const each = (words: string, show: (word: string) => string): string =>
  words.split(' ').map(show).join('');
const times = (count: number, show: (number: number) => string): string =>
  Array.from({ length: count }, (_, index) => show(index + 1)).join('');

const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title><link rel="icon" href="data:,"></head><body>${body}</body></html>`;

const link = (name: string): string => `<a href="#${name.toLowerCase()}">${name}</a>`;

const field = (name: string): string =>
  `<label for="${name.toLowerCase()}">${name}</label><input id="${name.toLowerCase()}" name="${name.toLowerCase()}">`;

const order = (number: number): string =>
  `<tr><td>${1000 + number}</td><td>Customer ${number}</td><td>$${(number * 13.37).toFixed(2)}</td><td><button>Open</button></td></tr>`;

const product = (number: number): string =>
  `<li><a href="/products/${number}">Product ${number}</a><span>$${number}.99</span></li>`;

const SHOP = `
  <header><nav aria-label="Main"><ul>${each(LINKS, (name) => `<li>${link(name)}</li>`)}</ul></nav></header>
  <main><h1>Bench Shop</h1><p>A page of ordinary size: links, a form, a table of orders and a list of products.</p>
  <form>${each(FIELDS, field)}
    <label for="size">Size</label><select id="size">${each(SIZES, (size) => `<option>${size}</option>`)}</select>
    <label for="note">Note</label><textarea id="note"></textarea>
    <label><input type="checkbox" id="news"> Send me news</label>
    <label><input type="checkbox" id="terms"> I agree to the terms</label>
    <button type="button" id="place">Place order</button></form>
  <table><caption>Orders</caption><thead><tr><th>Order</th><th>Customer</th><th>Total</th><th>Action</th></tr></thead>
    <tbody>${times(ORDERS, order)}</tbody></table>
  <section aria-label="Products"><h2>Products</h2><ul>${times(PRODUCTS, product)}</ul></section></main>
  <footer><h2>Bench Shop</h2><p>All prices in dollars.</p>${each('Terms Privacy Contact Imprint Jobs', link)}</footer>
  <output id="count">0</output>
  <script>let n = 0; document.getElementById("place").addEventListener("click", () => { document.getElementById("count").textContent = ++n; });</script>`;

const COVERED =
  '<button id="under">Under</button><div id="ov" class="modal" style="position: fixed; inset: 0"></div>';

export const SHOP_TITLE = 'Bench Shop';

/** A shop of 377 elements, and a button that is covered. */
export interface Pages {
  readonly shop: string;
  readonly covered: string;
  close(): void;
}

export async function servePages(): Promise<Pages> {
  const pages: Readonly<Record<string, string>> = {
    '/': page(SHOP_TITLE, SHOP),
    '/covered': page('Covered', COVERED),
  };
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(pages[request.url ?? '/'] ?? '');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    shop: `${url}/`,
    covered: `${url}/covered`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
