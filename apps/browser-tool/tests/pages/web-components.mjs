// A page of web components, built as the libraries of such components are: every control is inside a shadow root, its
// label and its items are slotted, and what looks like a checkbox hides the real one.

/** Defines an element with this shadow root; `connect` gets the element and its root. */
function define(name, shadow, connect) {
  const connectedCallback = function () {
    const root = this.attachShadow({ mode: 'open', delegatesFocus: true });
    root.innerHTML = shadow(this);
    connect(this, root);
  };
  class Component extends HTMLElement {}
  Component.prototype.connectedCallback = connectedCallback;
  customElements.define(name, Component);
}

const state = {};
function change(name, value) {
  state[name] = value;
  document.getElementById('state').textContent = JSON.stringify(state);
}

const labelOf = (host) => host.getAttribute('label');
const nameOf = (host) => host.getAttribute('name');
const HIDDEN_CONTROL =
  '<style>label { position: relative; padding-left: 2em } input { position: absolute; left: 0; opacity: 0 } i { position: absolute; left: 0; width: 1em; height: 1em; border: 1px solid }</style>';

for (const [tag, control] of [
  ['my-input', '<input id="control">'],
  ['my-textarea', '<textarea id="control"></textarea>'],
]) {
  define(
    tag,
    (host) => `<label for="control">${labelOf(host)}</label>${control}`,
    (host, root) => {
      const field = root.getElementById('control');
      field.addEventListener('change', () => change(nameOf(host), field.value));
    },
  );
}
for (const [tag, role] of [
  ['my-checkbox', ''],
  ['my-switch', 'role="switch"'],
]) {
  define(
    tag,
    () => `${HIDDEN_CONTROL}<label><input type="checkbox" ${role}><i></i><slot></slot></label>`,
    (host, root) => {
      const box = root.querySelector('input');
      box.addEventListener('change', () => change(nameOf(host), box.checked));
    },
  );
}
define(
  'my-button',
  () => '<button><slot></slot></button>',
  () => undefined,
);
define(
  'my-option',
  () => '<span><slot></slot></span>',
  (host) => host.setAttribute('role', 'option'),
);
define(
  'my-select',
  (host) =>
    `<label id="label">${labelOf(host)}</label><input role="combobox" aria-labelledby="label" aria-controls="list" aria-expanded="false" readonly>
     <div id="list" role="listbox" aria-labelledby="label" hidden><slot></slot></div>`,
  (host, root) => {
    const input = root.querySelector('input');
    const list = root.getElementById('list');
    const open = (isOpen) => {
      list.hidden = !isOpen;
      input.setAttribute('aria-expanded', String(isOpen));
    };
    input.addEventListener('click', () => open(true));
    list.addEventListener('click', ({ target }) => {
      const option = target.closest('my-option');
      input.value = option.textContent;
      open(false);
      change(nameOf(host), option.getAttribute('value'));
    });
  },
);
define(
  'my-menu',
  () => '<slot name="trigger"></slot><div role="menu" hidden><slot></slot></div>',
  (host, root) => {
    const menu = root.querySelector('div');
    root.querySelector('slot').addEventListener('click', () => (menu.hidden = !menu.hidden));
    menu.addEventListener('click', ({ target }) => {
      menu.hidden = true;
      change('log', target.getAttribute('value'));
    });
  },
);
define(
  'my-tabs',
  () => '<div role="tablist"><slot name="nav"></slot></div><slot></slot>',
  (host, root) => {
    root.querySelector('div').addEventListener('click', ({ target }) => {
      const panel = target.getAttribute('panel');
      for (const each of host.querySelectorAll('[role=tabpanel]'))
        each.hidden = each.getAttribute('name') !== panel;
      change('tab', panel);
    });
  },
);
define(
  'my-dialog',
  (host) =>
    `<style>:host(:not([open])) { display: none }</style><div role="dialog" aria-modal="true" aria-labelledby="title"><h2 id="title">${labelOf(host)}</h2><slot></slot></div>`,
  () => undefined,
);

document.getElementById('root').innerHTML = `
  <my-input label="Name" name="name"></my-input>
  <my-textarea label="Note" name="note"></my-textarea>
  <my-select label="Size" name="size"><my-option value="small">Small</my-option><my-option value="large">Large</my-option></my-select>
  <my-checkbox name="agreed">I agree</my-checkbox>
  <my-switch name="dark">Dark mode</my-switch>
  <my-menu><my-button slot="trigger">More</my-button><div role="menuitem" tabindex="0" value="archive">Archive</div></my-menu>
  <my-tabs><span slot="nav" role="tab" tabindex="0" panel="a">First</span><span slot="nav" role="tab" tabindex="0" panel="b">Second</span>
    <div role="tabpanel" name="a">Panel one</div><div role="tabpanel" name="b" hidden>Panel two</div></my-tabs>
  <my-button id="send">Send</my-button>
  <my-dialog label="Really send?"><my-button id="yes">Yes, send</my-button></my-dialog>
  <output id="state"></output>`;

const dialog = document.querySelector('my-dialog');
document.getElementById('send').addEventListener('click', () => dialog.setAttribute('open', ''));
document.getElementById('yes').addEventListener('click', () => {
  change('log', 'sent');
  dialog.removeAttribute('open');
});
