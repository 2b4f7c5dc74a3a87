//! A store in memory that fails as it is told.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use crate::error::SyncError;
use crate::remote::{Fetched, Item, Put, Remote, Version};

/// What the store does with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// It never arrives.
    Dropped,
    /// It arrives, and its answer does not.
    Unanswered,
    /// It arrives after the client gave up.
    Late,
    /// It arrives twice, and the second answer is given.
    Twice,
}

pub(super) type Objects = BTreeMap<String, (Vec<u8>, Version)>;

/// A write on its way: name, bytes, and the version on whose condition it is.
type Write = (String, Vec<u8>, Option<Version>);

/// The name of the copy among the objects.
pub(super) const COPY: &str = "copy";

#[derive(Default)]
pub(super) struct Bucket {
    pub(crate) objects: RefCell<Objects>,
    pub(crate) versions: Cell<u64>,
    /// What becomes of the write after so many others.
    pub(crate) fault: Cell<Option<(u32, Fault)>>,
    pub(crate) late: RefCell<Vec<Write>>,
    /// Another worker syncs before the next write of the copy.
    pub(crate) rival: RefCell<Option<Box<dyn FnOnce()>>>,
    /// Former states, the oldest first.
    pub(crate) past: RefCell<Vec<Objects>>,
}

#[derive(Clone, Default)]
pub(super) struct InMemory(pub(super) Rc<Bucket>);

impl InMemory {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.objects.borrow().get(COPY).map_or_else(Vec::new, |(bytes, _)| bytes.clone())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.bytes()).unwrap()
    }

    pub(crate) fn set(&self, name: &str, bytes: &[u8]) -> Version {
        self.0.past.borrow_mut().push(self.0.objects.borrow().clone());
        self.0.versions.set(self.0.versions.get() + 1);
        let version = Version { e_tag: Some(self.0.versions.get().to_string()), version: None };
        self.0.objects.borrow_mut().insert(name.to_owned(), (bytes.to_vec(), version.clone()));
        version
    }

    fn put_now(&self, name: &str, bytes: &[u8], old: Option<&Version>) -> Put {
        let present = self.0.objects.borrow().get(name).map(|(_, version)| version.clone());
        if present.as_ref() == old { Put::Done(self.set(name, bytes)) } else { Put::Lost }
    }

    /// Sets the copy, the states of machines, or both, back by some writes.
    pub(crate) fn set_back(&self, writes: usize, text: bool, machines: bool) {
        let past = self.0.past.borrow().clone();
        let Some(old) = past.len().checked_sub(writes).and_then(|at| past.get(at)) else { return };
        if text && !old.contains_key(COPY) {
            return;
        }
        let present = self.0.objects.borrow().clone();
        let is_of = |name: &str| if name == COPY { text } else { machines };
        let old = old.iter().filter(|(name, _)| is_of(name));
        let rest = present.iter().filter(|(name, _)| !is_of(name));
        // A store may name an old object by its old version, or by a new one.
        let all: Objects = old.chain(rest).map(|(name, object)| (name.clone(), object.clone())).collect();
        *self.0.objects.borrow_mut() = all;
    }

    pub(crate) fn arrive(&self) {
        for (name, bytes, old) in self.0.late.take() {
            let _ = self.put_now(&name, &bytes, old.as_ref());
        }
    }
}

fn name_of(item: Item<'_>) -> String {
    match item {
        Item::Text => COPY.to_owned(),
        Item::Machine(name) => name.to_owned(),
    }
}

impl fmt::Display for InMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("mem://copy")
    }
}

impl Remote for InMemory {
    fn fetch(&self, item: Item<'_>, known: Option<&Version>) -> Result<Fetched, SyncError> {
        Ok(match self.0.objects.borrow().get(&name_of(item)).cloned() {
            None => Fetched::Missing,
            Some((_, version)) if Some(&version) == known => Fetched::Unchanged,
            Some((bytes, version)) => Fetched::Copy(bytes, version),
        })
    }

    fn put(&self, item: Item<'_>, text: &str, old: Option<&Version>) -> Result<Put, SyncError> {
        let name = name_of(item);
        if item == Item::Text
            && let Some(rival) = self.0.rival.take()
        {
            rival();
        }
        let fault = match self.0.fault.get() {
            Some((0, fault)) => self.0.fault.take().map(|_| fault),
            Some((left, fault)) => {
                self.0.fault.set(Some((left - 1, fault)));
                None
            }
            None => None,
        };
        let cut_off = || Err(SyncError::Unreachable { url: self.to_string(), problem: "cut off".to_owned() });
        match fault {
            None => Ok(self.put_now(&name, text.as_bytes(), old)),
            Some(Fault::Dropped) => cut_off(),
            Some(Fault::Unanswered) => {
                self.put_now(&name, text.as_bytes(), old);
                cut_off()
            }
            Some(Fault::Late) => {
                self.0.late.borrow_mut().push((name, text.as_bytes().to_vec(), old.cloned()));
                cut_off()
            }
            Some(Fault::Twice) => {
                self.put_now(&name, text.as_bytes(), old);
                Ok(self.put_now(&name, text.as_bytes(), old))
            }
        }
    }

    fn machines(&self) -> Result<BTreeMap<String, Version>, SyncError> {
        let objects = self.0.objects.borrow();
        let machines = objects.iter().filter(|(name, _)| *name != COPY);
        Ok(machines.map(|(name, (_, version))| (name.clone(), version.clone())).collect())
    }
}
