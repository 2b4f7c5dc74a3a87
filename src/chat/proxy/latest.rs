//! A bounded map that drops its oldest entry when it is full.

use std::collections::VecDeque;

/// The latest values by their keys.
pub(super) struct Latest<K, V> {
    capacity: usize,
    /// The oldest first.
    entries: VecDeque<(K, V)>,
}

impl<K: PartialEq, V> Latest<K, V> {
    pub(super) fn new(capacity: usize) -> Latest<K, V> {
        Latest { capacity, entries: VecDeque::new() }
    }

    /// Adds a value as the newest one, in place of an older one with that key. Beyond the capacity,
    /// the oldest value is dropped.
    pub(super) fn insert(&mut self, key: K, value: V) {
        self.remove(&key);
        self.entries.push_back((key, value));
        if self.entries.len() > self.capacity {
            self.entries.pop_front();
        }
    }

    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        let at = self.entries.iter().position(|(other, _)| other == key)?;
        self.entries.remove(at).map(|(_, value)| value)
    }

    /// Takes all values, the oldest first.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = V> + use<K, V> {
        std::mem::take(&mut self.entries).into_iter().map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_leaves_where_there_are_too_many() {
        let mut latest = Latest::new(3);
        for key in 0..5 {
            latest.insert(key, key * 10);
        }
        // Inserting a key again makes it the newest.
        latest.insert(2, 21);
        latest.insert(5, 50);
        assert_eq!((latest.remove(&3), latest.remove(&4)), (None, Some(40)));
        assert_eq!(latest.take_all().collect::<Vec<_>>(), [21, 50]);
        assert_eq!(latest.take_all().count(), 0);
    }
}
