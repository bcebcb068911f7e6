import { codeOf } from './codeText.ts';
import type { Config } from './model/config.ts';
import { Simulation } from './model/simulation.ts';
import { promiseOf } from './promiseText.ts';
import { configOf, hashOf } from './url.ts';
import { showFigures, showRequests } from './view/figures.ts';
import { Loop } from './view/loop.ts';
import { Settings } from './view/settings.ts';
import { letterOf } from './view/svg.ts';
import { Timeline } from './view/timeline.ts';

/** Milliseconds between two updates of the figures, and between two summaries for screen readers. */
const figuresEvery = 250;
const summaryEvery = 15_000;

const byId = <E extends HTMLElement>(id: string) => document.getElementById(id) as E;

let config = configOf(location.hash);
let simulation = new Simulation(config);
let figuresAt = 0;
let summaryAt = performance.now();

const loop = new Loop((ms) => {
  simulation.advance(ms);
  refresh();
});
const timeline = new Timeline(byId('timeline'), simulation, { emit, cancel });
const settings = new Settings(byId<HTMLFormElement>('settings'), (changed) => {
  history.pushState(null, '', hashOf(changed));
  apply(changed);
});

addEventListener('popstate', () => apply(configOf(location.hash)));
addEventListener('hashchange', () => apply(configOf(location.hash)));
on('cancel', () => {
  const oldest = simulation.fleet.marbles.find(({ state }) => state === 'waiting');
  if (oldest) cancel(oldest.id);
  else announce('No request waits.');
});
on('refund', () => {
  const refunded = simulation.fleet.refundLast();
  announce(refunded ? `Refunded the permit of ${nameOf(refunded)}.` : 'There is no permit to refund.');
});
on('pause', () => {
  simulation.fleet.pause(config.pause);
  announce(`The fleet pauses for ${config.pause} ms.`);
});
on('freeze', () => stopTime(!loop.isStopped));
on('restart', () => {
  start();
  announce('Started again.');
});
byId('copy').addEventListener('click', async () => {
  await navigator.clipboard.writeText(codeOf(config)).then(
    () => announce('Copied the code.'),
    () => getSelection()?.selectAllChildren(byId('code')),
  );
});

history.replaceState(null, '', hashOf(config));
show();

/** Handles a button: the time that has passed until then comes first. */
function on(id: string, work: () => void): void {
  byId(id).addEventListener('click', () => {
    loop.catchUp();
    work();
    refresh(true);
  });
}

function emit(process: number): void {
  loop.catchUp();
  const marble = simulation.fleet.emit(process);
  const [name, { state }] = [nameOf(marble), marble];
  announce(state === 'waiting' ? `${name} waits.` : `${name} is ${state}.`);
  refresh(true);
}

function cancel(id: number): void {
  loop.catchUp();
  const marble = simulation.fleet.marbles.find((one) => one.id === id);
  if (marble && simulation.fleet.cancel(id)) announce(`${nameOf(marble)} is cancelled.`);
  refresh(true);
}

function nameOf({ id, process }: { id: number; process: number }): string {
  return `Request ${id} of process ${letterOf(process)}`;
}

/** Follows a change of the settings or of the address. The length of a pause needs no new run. */
function apply(changed: Config): void {
  const isSameRun = hashOf({ ...changed, pause: config.pause }) === hashOf(config);
  config = changed;
  if (isSameRun) settings.show(config);
  else start();
}

function start(): void {
  simulation.close();
  simulation = new Simulation(config);
  stopTime(false);
  show();
}

function show(): void {
  settings.show(config);
  timeline.show(simulation);
  byId('promise').textContent = promiseOf(config);
  byId('code').textContent = codeOf(config);
  byId('emit').replaceChildren(...Array.from({ length: config.processes }, (_, i) => emitButton(i)));
  refresh(true);
}

function emitButton(process: number): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = `+ ${letterOf(process)}`;
  button.setAttribute('aria-label', `+ ${letterOf(process)}: request of process ${letterOf(process)}`);
  button.style.background = `var(--p${process})`;
  button.addEventListener('click', () => emit(process));
  return button;
}

function stopTime(isStopped: boolean): void {
  loop.isStopped = isStopped;
  byId('freeze').setAttribute('aria-pressed', String(isStopped));
}

/** Draws the present; the figures not with each frame, as they could not be read. */
function refresh(isForced = false): void {
  timeline.render();
  const now = performance.now();
  if (!isForced && now - figuresAt < figuresEvery) return;
  figuresAt = now;
  const summary = showFigures(simulation);
  if (document.querySelector<HTMLDetailsElement>('.log')!.open) showRequests(simulation);
  if (now - summaryAt > summaryEvery && !loop.isStopped) announce(summary);
}

function announce(text: string): void {
  summaryAt = performance.now();
  byId('announcer').textContent = text;
}
