// Straight lines on a canvas, in its own style.

export function strokeDown(ctx: CanvasRenderingContext2D, x: number, top: number, bottom: number): void {
  ctx.beginPath();
  ctx.moveTo(x, top);
  ctx.lineTo(x, bottom);
  ctx.stroke();
}

export function strokeAcross(ctx: CanvasRenderingContext2D, left: number, right: number, y: number): void {
  ctx.beginPath();
  ctx.moveTo(left, y);
  ctx.lineTo(right, y);
  ctx.stroke();
}
