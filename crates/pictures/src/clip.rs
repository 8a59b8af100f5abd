//! Lines and areas cut to a rectangle.

/// A place in a figure.
pub(crate) type Place = (f64, f64);

/// A rectangle with its smaller ends first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Frame {
    pub(crate) fn holds(&self, (x, y): Place) -> bool {
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }

    /// The parts of a line inside; places that are not finite interrupt it.
    pub(crate) fn line(&self, places: &[Place]) -> Vec<Vec<Place>> {
        let mut parts: Vec<Vec<Place>> = vec![];
        for pair in places.windows(2) {
            let Some((from, to)) = self.segment(pair[0], pair[1]) else { continue };
            match parts.last_mut() {
                Some(part) if part.last() == Some(&from) => part.push(to),
                _ => parts.push(vec![from, to]),
            }
        }
        parts
    }

    /// Liang and Barsky.
    fn segment(&self, from: Place, to: Place) -> Option<(Place, Place)> {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        if !(dx.is_finite() && dy.is_finite()) {
            return None;
        }
        let (mut enter, mut leave) = (0.0f64, 1.0f64);
        let sides = [
            (-dx, from.0 - self.left),
            (dx, self.right - from.0),
            (-dy, from.1 - self.top),
            (dy, self.bottom - from.1),
        ];
        for (speed, room) in sides {
            if speed == 0.0 {
                if room < 0.0 {
                    return None;
                }
            } else if speed < 0.0 {
                enter = enter.max(room / speed);
            } else {
                leave = leave.min(room / speed);
            }
        }
        let along = |share: f64| match share {
            0.0 => from,
            1.0 => to,
            _ => (from.0 + share * dx, from.1 + share * dy),
        };
        (enter <= leave).then(|| (along(enter), along(leave)))
    }

    /// The part of an area inside, after Sutherland and Hodgman.
    pub(crate) fn area(&self, places: &[Place]) -> Vec<Place> {
        let mut area: Vec<Place> =
            places.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
        let sides = [
            (true, self.left, 1.0),
            (true, self.right, -1.0),
            (false, self.top, 1.0),
            (false, self.bottom, -1.0),
        ];
        for (across, bound, sign) in sides {
            let depth = |(x, y): Place| sign * (if across { x } else { y } - bound);
            let mut kept = Vec::with_capacity(area.len() + 4);
            for (index, &place) in area.iter().enumerate() {
                let before = area[(index + area.len() - 1) % area.len()];
                let (here, there) = (depth(place), depth(before));
                if (here >= 0.0) != (there >= 0.0) {
                    let share = there / (there - here);
                    kept.push((
                        before.0 + share * (place.0 - before.0),
                        before.1 + share * (place.1 - before.1),
                    ));
                }
                if here >= 0.0 {
                    kept.push(place);
                }
            }
            area = kept;
        }
        area
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame = Frame { left: 0.0, top: 0.0, right: 10.0, bottom: 10.0 };

    #[test]
    fn a_line_is_cut_at_the_frame() {
        let parts =
            FRAME.line(&[(-5.0, 5.0), (5.0, 5.0), (5.0, 15.0), (5.0, f64::NAN), (1.0, 1.0), (2.0, 2.0)]);
        assert_eq!(parts, [vec![(0.0, 5.0), (5.0, 5.0), (5.0, 10.0)], vec![(1.0, 1.0), (2.0, 2.0)]]);
        assert!(FRAME.line(&[(-1.0, -1.0), (-1.0, 20.0)]).is_empty());
    }

    #[test]
    fn an_area_is_cut_at_the_frame() {
        let area = FRAME.area(&[(-5.0, -5.0), (20.0, -5.0), (20.0, 20.0), (-5.0, 20.0)]);
        assert!(area.len() == 4 && area.iter().all(|place| FRAME.holds(*place)), "{area:?}");
        assert!(FRAME.area(&[(11.0, 1.0), (12.0, 1.0), (12.0, 2.0)]).is_empty());
    }
}
