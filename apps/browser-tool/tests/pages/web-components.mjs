// A page of Shoelace: everything a person uses is inside of shadow roots.
/* oxlint-disable import/no-unassigned-import -- Components register themselves. */
import '@shoelace-style/shoelace/dist/themes/light.css';
import '@shoelace-style/shoelace/dist/components/button/button.js';
import '@shoelace-style/shoelace/dist/components/checkbox/checkbox.js';
import '@shoelace-style/shoelace/dist/components/details/details.js';
import '@shoelace-style/shoelace/dist/components/dialog/dialog.js';
import '@shoelace-style/shoelace/dist/components/dropdown/dropdown.js';
import '@shoelace-style/shoelace/dist/components/input/input.js';
import '@shoelace-style/shoelace/dist/components/menu-item/menu-item.js';
import '@shoelace-style/shoelace/dist/components/menu/menu.js';
import '@shoelace-style/shoelace/dist/components/option/option.js';
import '@shoelace-style/shoelace/dist/components/select/select.js';
import '@shoelace-style/shoelace/dist/components/switch/switch.js';
import '@shoelace-style/shoelace/dist/components/tab-group/tab-group.js';
import '@shoelace-style/shoelace/dist/components/tab/tab.js';
import '@shoelace-style/shoelace/dist/components/tab-panel/tab-panel.js';
import '@shoelace-style/shoelace/dist/components/textarea/textarea.js';

document.getElementById('root').innerHTML = `
  <sl-input label="Name" name="name"></sl-input>
  <sl-textarea label="Note" name="note"></sl-textarea>
  <sl-select label="Size" name="size"><sl-option value="small">Small</sl-option><sl-option value="large">Large</sl-option></sl-select>
  <sl-checkbox name="agreed">I agree</sl-checkbox>
  <sl-switch name="dark">Dark mode</sl-switch>
  <sl-dropdown><sl-button slot="trigger" caret>More</sl-button><sl-menu><sl-menu-item value="archive">Archive</sl-menu-item></sl-menu></sl-dropdown>
  <sl-tab-group><sl-tab slot="nav" panel="a">First</sl-tab><sl-tab slot="nav" panel="b">Second</sl-tab>
    <sl-tab-panel name="a">Panel one</sl-tab-panel><sl-tab-panel name="b">Panel two</sl-tab-panel></sl-tab-group>
  <sl-button id="send">Send</sl-button>
  <sl-dialog label="Really send?"><sl-button slot="footer" id="yes">Yes, send</sl-button></sl-dialog>
  <output id="state"></output>`;

const state = {};
const show = () => {
  document.getElementById('state').textContent = JSON.stringify(state);
};
document.addEventListener('sl-change', ({ target }) => {
  state[target.name] = 'checked' in target ? target.checked : target.value;
  show();
});
document.addEventListener('sl-select', ({ detail }) => {
  state.log = detail.item.value;
  show();
});
document.addEventListener('sl-tab-show', ({ detail }) => {
  state.tab = detail.name;
  show();
});
const dialog = document.querySelector('sl-dialog');
document.getElementById('send').addEventListener('click', () => {
  void dialog.show();
});
document.getElementById('yes').addEventListener('click', () => {
  state.log = 'sent';
  show();
  void dialog.hide();
});
