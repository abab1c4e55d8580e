//! Pieces of a buffer, and the order in which a rank writes, combines and reads them.

use ompi_core::data::Data;

/// Elements cut into pieces, one a step.
pub struct Pieces {
    all: usize,
    /// Elements of a piece but the last.
    pub most: usize,
    /// How many pieces.
    pub steps: usize,
}

impl Pieces {
    /// Of `all` elements, at most `most` each.
    pub fn of(all: usize, most: usize) -> Pieces {
        Pieces { all, most, steps: all.div_ceil(most) }
    }

    /// A step's piece of the data.
    pub fn part<'a>(&self, data: &Data<'a>, step: usize) -> Data<'a> {
        let begin = step * self.most;
        data.at_element(begin as isize, self.most.min(self.all - begin))
    }

    /// The same of data that may be shorter than all pieces.
    pub fn within<'a>(&self, data: &Data<'a>, step: usize) -> Data<'a> {
        let begin = (step * self.most).min(data.count);
        data.at_element(begin as isize, self.most.min(data.count - begin))
    }
}

/// The order of steps in stages (to write, perhaps to combine, to read), which go through them in groups: while the others
/// work on a group this rank is at the next one.
pub struct Schedule {
    group: usize,
    steps: usize,
    stages: usize,
    left: usize,
    // The next item, unless that is the end of its group.
    round: usize,
    stage: usize,
    step: usize,
    end: usize,
}

/// Of `steps` steps in each of `stages` stages; yields stage and step.
pub fn schedule(group: usize, steps: usize, stages: usize) -> Schedule {
    Schedule { group, steps, stages, left: steps * stages, round: 0, stage: 0, step: 0, end: steps.min(group) }
}

impl Iterator for Schedule {
    type Item = (usize, usize);

    #[inline]
    fn next(&mut self) -> Option<(usize, usize)> {
        if self.left == 0 {
            return None;
        }
        while self.step >= self.end {
            match self.stage < self.round && self.stage + 1 < self.stages {
                true => self.stage += 1,
                false => (self.round, self.stage) = (self.round + 1, 0),
            }
            self.step = (self.round - self.stage) * self.group;
            self.end = self.steps.min(self.step + self.group);
        }
        self.left -= 1;
        self.step += 1;
        Some((self.stage, self.step - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::schedule;
    use alloc::vec::Vec;

    #[test]
    fn groups_follow_each_other_through_the_stages() {
        for (group, steps, number) in
            [(1, 0, 2), (1, 1, 3), (1, 5, 2), (2, 5, 3), (3, 4, 3), (4, 4, 2), (8, 5, 3), (8, 40, 3)]
        {
            let mut wanted = Vec::new();
            for round in 0..steps + number {
                for stage in 0..number.min(round + 1) {
                    let begin = (round - stage) * group;
                    wanted.extend((begin..steps.min(begin + group)).map(|step| (stage, step)));
                }
            }
            assert_eq!(
                schedule(group, steps, number).collect::<Vec<_>>(),
                wanted,
                "{steps} steps in groups of {group}"
            );
        }
    }
}
