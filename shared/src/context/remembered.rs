//! A cached value that expires, with a fallback to the old value while a reader hangs.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The last value and when it was read.
#[derive(Debug)]
pub struct Remembered<T> {
    last: Mutex<Option<(Instant, T)>>,
    /// Locked by the caller that reads a new value. Other callers never wait for this lock: they use the old value or read on their own.
    reading: tokio::sync::Mutex<()>,
}

/// The ages at which a cached value can be used.
#[derive(Debug, Clone, Copy)]
pub struct Ages {
    /// Up to this age, the value is not read again.
    pub fresh: Duration,
    /// Up to this age, the value is used while another caller reads a new one.
    pub usable: Duration,
}

impl Ages {
    /// Reads the value each time.
    pub const ZERO: Self = Self {
        fresh: Duration::ZERO,
        usable: Duration::ZERO,
    };
}

/// The result of a lookup.
#[derive(Debug)]
pub enum LookUp<'a, T> {
    /// A value that can be used.
    Known(T),
    /// The caller must read the value.
    Read(Reading<'a, T>),
}

/// Permission to read a value. Until it is dropped, other callers use the former value.
#[derive(Debug)]
pub struct Reading<'a, T> {
    /// The last value, whatever its age.
    pub former: Option<T>,
    remembered: &'a Remembered<T>,
    _others_wait: Option<tokio::sync::MutexGuard<'a, ()>>,
}

impl<T> Default for Remembered<T> {
    fn default() -> Self {
        Self {
            last: Mutex::new(None),
            reading: tokio::sync::Mutex::new(()),
        }
    }
}

impl<T: Clone> Remembered<T> {
    /// Returns the value, or permission to read it. Permission is given to one caller at a time, and to every caller without a usable value. `ages`
    /// may depend on the value.
    pub fn look_up(&self, ages: impl FnOnce(&T) -> Ages) -> LookUp<'_, T> {
        let last = self.last().clone();
        let others_wait = self.reading.try_lock().ok();
        if let Some((since, value)) = &last {
            let Ages { fresh, usable } = ages(value);
            let age = since.elapsed();
            if age < fresh || others_wait.is_none() && age < usable {
                return LookUp::Known(value.clone());
            }
        }
        LookUp::Read(Reading {
            former: last.map(|(_, value)| value),
            remembered: self,
            _others_wait: others_wait,
        })
    }

    fn last(&self) -> MutexGuard<'_, Option<(Instant, T)>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Clone> Reading<'_, T> {
    /// Caches the value that was read.
    pub fn remember(self, value: T) {
        *self.remembered.last() = Some((Instant::now(), value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USABLE: Ages = Ages {
        fresh: Duration::ZERO,
        usable: Duration::from_hours(1),
    };

    fn remembered() -> Remembered<u8> {
        let remembered = Remembered::default();
        let LookUp::Read(reading) = remembered.look_up(|_| USABLE) else {
            panic!("nothing is known");
        };
        assert_eq!(reading.former, None);
        reading.remember(1);
        remembered
    }

    #[test]
    fn while_one_reads_the_others_use_the_former_value() {
        let remembered = remembered();
        let LookUp::Read(hanging) = remembered.look_up(|_| USABLE) else {
            panic!("the value is old");
        };
        assert_eq!(hanging.former, Some(1));
        for _ in 0..3 {
            assert!(matches!(remembered.look_up(|_| USABLE), LookUp::Known(1)));
        }
        drop(hanging);
        assert!(matches!(remembered.look_up(|_| USABLE), LookUp::Read(_)));
    }

    #[test]
    fn nobody_waits_where_no_value_is_usable() {
        let remembered = remembered();
        let hanging = remembered.look_up(|_| Ages::ZERO);
        let LookUp::Read(second) = remembered.look_up(|_| Ages::ZERO) else {
            panic!("the value is too old");
        };
        second.remember(2);
        drop(hanging);
        let fresh = Ages {
            fresh: Duration::from_hours(1),
            ..USABLE
        };
        assert!(matches!(remembered.look_up(|_| fresh), LookUp::Known(2)));
    }
}
