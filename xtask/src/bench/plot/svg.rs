//! plotters' SVG backend with text sizes by rule of thumb: asked for them, it would want a font of this machine, and the
//! pictures would differ from machine to machine.

use plotters::backend::SVGBackend;
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind};
use std::path::Path;

/// See above.
pub struct Measuring<'a>(SVGBackend<'a>);

impl<'a> Measuring<'a> {
    /// Writes to `path` when it is presented.
    pub fn new(path: &'a Path, size: (u32, u32)) -> Measuring<'a> {
        Measuring(SVGBackend::new(path, size))
    }
}

type Done<B> = Result<(), DrawingErrorKind<<B as DrawingBackend>::ErrorType>>;

impl<'a> DrawingBackend for Measuring<'a> {
    type ErrorType = <SVGBackend<'a> as DrawingBackend>::ErrorType;

    fn get_size(&self) -> (u32, u32) {
        self.0.get_size()
    }

    fn ensure_prepared(&mut self) -> Done<Self> {
        self.0.ensure_prepared()
    }

    fn present(&mut self) -> Done<Self> {
        self.0.present()
    }

    fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> Done<Self> {
        self.0.draw_pixel(point, color)
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Done<Self> {
        self.0.draw_line(from, to, style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        upper_left: BackendCoord,
        bottom_right: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Done<Self> {
        self.0.draw_rect(upper_left, bottom_right, style, fill)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Done<Self> {
        self.0.draw_path(path, style)
    }

    fn draw_circle<S: BackendStyle>(&mut self, center: BackendCoord, radius: u32, style: &S, fill: bool) -> Done<Self> {
        self.0.draw_circle(center, radius, style, fill)
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        vert: I,
        style: &S,
    ) -> Done<Self> {
        self.0.fill_polygon(vert, style)
    }

    fn draw_text<T: BackendTextStyle>(&mut self, text: &str, style: &T, pos: BackendCoord) -> Done<Self> {
        self.0.draw_text(text, style, pos)
    }

    fn estimate_text_size<T: BackendTextStyle>(
        &self,
        text: &str,
        style: &T,
    ) -> Result<(u32, u32), DrawingErrorKind<Self::ErrorType>> {
        // Sans-serif letters are a little more than half as wide as high.
        Ok(((text.chars().count() as f64 * style.size() * 0.55) as u32, style.size() as u32))
    }
}
