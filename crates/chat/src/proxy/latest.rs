//! A map of bounded count and size that drops its oldest entry when it is full.

use std::collections::VecDeque;

/// The latest values by their keys.
pub(super) struct Latest<K, V> {
    max_count: usize,
    max_size: usize,
    /// Sum of the sizes of the entries.
    size: usize,
    /// The oldest first.
    entries: VecDeque<Entry<K, V>>,
}

struct Entry<K, V> {
    key: K,
    value: V,
    size: usize,
}

impl<K: PartialEq, V> Latest<K, V> {
    pub(super) fn new(max_count: usize, max_size: usize) -> Latest<K, V> {
        Latest { max_count, max_size, size: 0, entries: VecDeque::new() }
    }

    /// Adds a value of a size as the newest one, in place of an older one with that key. The oldest values are
    /// dropped as long as there are too many, or too large ones.
    pub(super) fn insert(&mut self, key: K, value: V, size: usize) {
        self.remove(&key);
        self.size += size;
        self.entries.push_back(Entry { key, value, size });
        while self.entries.len() > self.max_count || self.size > self.max_size {
            let Some(oldest) = self.entries.pop_front() else { break };
            self.size -= oldest.size;
        }
    }

    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        let at = self.entries.iter().position(|entry| entry.key == *key)?;
        let entry = self.entries.remove(at)?;
        self.size -= entry.size;
        Some(entry.value)
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.entries.iter().find(|entry| entry.key == *key).map(|entry| &entry.value)
    }

    /// Number of values.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The oldest value with its key.
    pub(super) fn oldest(&self) -> Option<(&K, &V)> {
        self.entries.front().map(|entry| (&entry.key, &entry.value))
    }

    /// Takes all values, the oldest first.
    #[cfg(test)]
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = V> + use<K, V> {
        self.size = 0;
        std::mem::take(&mut self.entries).into_iter().map(|entry| entry.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_leaves_where_there_are_too_many() {
        let mut latest = Latest::new(3, usize::MAX);
        for key in 0..5 {
            latest.insert(key, key * 10, 1);
        }
        // Inserting a key again makes it the newest.
        latest.insert(2, 21, 1);
        latest.insert(5, 50, 1);
        assert_eq!((latest.remove(&3), latest.remove(&4)), (None, Some(40)));
        assert_eq!(latest.oldest(), Some((&2, &21)));
        assert_eq!(latest.take_all().collect::<Vec<_>>(), [21, 50]);
        assert_eq!(latest.take_all().count(), 0);
    }

    #[test]
    fn the_oldest_leave_where_they_are_too_large() {
        let mut latest = Latest::new(10, 100);
        for key in 0..5 {
            latest.insert(key, key, 30);
        }
        latest.insert(4, 44, 60);
        assert_eq!(latest.take_all().collect::<Vec<_>>(), [3, 44]);
        latest.insert(6, 6, 100);
        latest.insert(7, 7, 101);
        assert_eq!(latest.take_all().count(), 0, "it takes no more room than there is");
        latest.insert(8, 8, 100);
        assert_eq!(latest.take_all().collect::<Vec<_>>(), [8]);
    }
}
