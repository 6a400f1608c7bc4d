//! Colours of style sheets, and how well text in them can be read.

use std::fmt;

/// The contrast that WCAG 2 (AA) asks of text.
pub(super) const READABLE: f64 = 4.5;

/// How much of a colour is replaced at a time until it can be read.
const STEP: f64 = 0.02;

/// A colour without transparency: red, green and blue from 0 to 255.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Color([f64; 3]);

impl Color {
    pub(super) const BLACK: Self = Self([0.0; 3]);
    pub(super) const WHITE: Self = Self([255.0; 3]);

    /// Parses `#rgb`, `#rrggbb`, `rgb()`, `hsl()` and two names. Transparency is left out.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        if let Some(digits) = text.strip_prefix('#') {
            return Self::of_digits(digits);
        }
        match text.as_str() {
            "black" => return Some(Self::BLACK),
            "white" => return Some(Self::WHITE),
            _ => {}
        }
        let (function, rest) = text.split_once('(')?;
        let arguments = rest.strip_suffix(')')?;
        let mut arguments = arguments
            .split([',', '/', ' ', '\n', '\t'])
            .filter(|it| !it.is_empty());
        let [first, second, third] = [arguments.next()?, arguments.next()?, arguments.next()?];
        match function.trim() {
            "rgb" | "rgba" => Some(Self([channel(first)?, channel(second)?, channel(third)?])),
            "hsl" | "hsla" => Some(Self::of_hsl(hue(first)?, share(second)?, share(third)?)),
            _ => None,
        }
    }

    fn of_digits(digits: &str) -> Option<Self> {
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let width = match digits.len() {
            3 | 4 => 1,
            6 | 8 => 2,
            _ => return None,
        };
        let mut channels = [0.0; 3];
        for (at, channel) in channels.iter_mut().enumerate() {
            let digits = &digits[at * width..(at + 1) * width];
            let value = u8::from_str_radix(digits, 16).ok()?;
            *channel = f64::from(if width == 1 { value * 17 } else { value });
        }
        Some(Self(channels))
    }

    fn of_hsl(hue: f64, saturation: f64, lightness: f64) -> Self {
        let amount = saturation * lightness.min(1.0 - lightness);
        Self([0.0, 8.0, 4.0].map(|offset| {
            let k = (offset + hue / 30.0).rem_euclid(12.0);
            255.0 * (lightness - amount * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0))
        }))
    }

    /// Returns this colour with the share `by` of another one.
    pub(super) fn mixed(self, other: Self, by: f64) -> Self {
        let mut channels = self.0;
        for (channel, other) in channels.iter_mut().zip(other.0) {
            *channel += (other - *channel) * by;
        }
        Self(channels)
    }

    /// Returns the relative luminance of WCAG 2.
    fn luminance(self) -> f64 {
        let [red, green, blue] = self.0.map(|channel| {
            let channel = channel.round() / 255.0;
            if channel <= 0.040_45 {
                channel / 12.92
            } else {
                ((channel + 0.055) / 1.055).powf(2.4)
            }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    /// Returns the contrast ratio of WCAG 2: from 1 to 21.
    pub(super) fn contrast(self, other: Self) -> f64 {
        let (one, other) = (self.luminance() + 0.05, other.luminance() + 0.05);
        one.max(other) / one.min(other)
    }

    /// Returns this colour, darker or lighter by as much as text in it needs to be read on the background.
    pub(super) fn readable_on(self, background: Self) -> Self {
        let goal = background.readable_text();
        let mut by = 0.0;
        while by < 1.0 {
            let mixed = self.mixed(goal, by);
            if mixed.contrast(background) >= READABLE {
                return mixed;
            }
            by += STEP;
        }
        goal
    }

    /// Returns black or white: white wherever it can be read on this colour, as sites do.
    pub(super) fn readable_text(self) -> Self {
        if self.contrast(Self::WHITE) >= READABLE {
            Self::WHITE
        } else {
            Self::BLACK
        }
    }
}

impl fmt::Display for Color {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(formatter, "rgb({red:.0} {green:.0} {blue:.0})")
    }
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

fn channel(text: &str) -> Option<f64> {
    let value = match text.strip_suffix('%') {
        Some(percent) => number(percent)? / 100.0 * 255.0,
        None => number(text)?,
    };
    Some(value.clamp(0.0, 255.0))
}

fn share(text: &str) -> Option<f64> {
    let percent = number(text.strip_suffix('%').unwrap_or(text))?;
    Some((percent / 100.0).clamp(0.0, 1.0))
}

fn hue(text: &str) -> Option<f64> {
    let degrees = number(text.strip_suffix("deg").unwrap_or(text))?;
    Some(degrees.rem_euclid(360.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_read_as_style_sheets_write_them() {
        for (text, expected) in [
            ("#d94400", Some("rgb(217 68 0)")),
            ("#FFF", Some("rgb(255 255 255)")),
            ("#25c2a0ff", Some("rgb(37 194 160)")),
            (" rgb(37, 194, 160) ", Some("rgb(37 194 160)")),
            ("rgba(100% 0% 50% / 0.5)", Some("rgb(255 0 128)")),
            ("hsl(210deg, 50%, 40%)", Some("rgb(51 102 153)")),
            ("oklch(0.7 0.1 200)", None),
            ("#12", None),
            ("#äää", None),
            ("rgb(NaN, 1, 2)", None),
            ("url(x)", None),
        ] {
            let parsed = Color::parse(text).map(|color| color.to_string());
            assert_eq!(parsed.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_color_is_changed_only_as_far_as_it_must_be_to_be_read() {
        let parse = |text: &str| Color::parse(text).unwrap();
        let blue = parse("#1c5bd9");
        assert_eq!(blue.readable_on(Color::WHITE), blue);
        for background in ["#fff", "#1b1b1d", "#777", "#000"].map(parse) {
            for color in ["#ffe564", "#d94400", "#25c2a0", "#000", "#fff"].map(parse) {
                let contrast = color.readable_on(background).contrast(background);
                assert!(contrast >= READABLE, "{color} on {background}: {contrast}");
            }
        }
        let yellow = parse("#ffe564");
        assert!(yellow.readable_on(Color::WHITE).contrast(Color::WHITE) < 5.5);
        assert_eq!(yellow.readable_text(), Color::BLACK);
    }
}
