/** Pixels by which a marble has to be pulled out of its row. */
const pull = 26;

interface DragTarget {
  /** The middle of the row of a request; undefined if the request is gone. */
  rowOf(id: number): number | undefined;
  /** A marble is at a point of the timeline, or at its own place again. */
  moved(dragged: { id: number; x: number; y: number } | undefined): void;
  pulledOff(id: number): void;
}

/** Lets a pointer grab a waiting marble and pull it off its row. */
export function addDrag(root: SVGSVGElement, target: DragTarget): void {
  let grabbed: { id: number; pointer: number } | undefined;

  root.addEventListener('pointerdown', (event) => {
    const marble = (event.target as Element).closest('.marble.waiting');
    if (!marble || grabbed) return;
    grabbed = { id: Number(marble.getAttribute('data-id')), pointer: event.pointerId };
    root.setPointerCapture(event.pointerId);
    event.preventDefault();
  });

  // `touch-action` has no effect on the parts of an SVG: without this, a touch of a marble would scroll the page.
  root.addEventListener(
    'touchstart',
    (event) => {
      if ((event.target as Element).closest('.marble.waiting')) event.preventDefault();
    },
    { passive: false },
  );

  root.addEventListener('pointermove', (event) => {
    if (event.pointerId === grabbed?.pointer) target.moved({ id: grabbed.id, ...pointOf(event) });
  });

  root.addEventListener('pointerup', (event) => {
    if (event.pointerId !== grabbed?.pointer) return;
    const { id } = grabbed;
    const row = target.rowOf(id);
    end();
    if (row !== undefined && Math.abs(pointOf(event).y - row) > pull) target.pulledOff(id);
  });

  root.addEventListener('pointercancel', (event) => {
    if (event.pointerId === grabbed?.pointer) end();
  });

  function end(): void {
    grabbed = undefined;
    target.moved(undefined);
  }

  function pointOf({ clientX, clientY }: PointerEvent): { x: number; y: number } {
    const { left, top } = root.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  }
}
