//! Reads seed files into a [`Cast`]: agents, their relationships and the scene.
//!
//! The cast is complete and free of contradictions; otherwise the first error is returned with its file,
//! line, field and expectation. Unknown keys are ignored with a warning.

use crate::seed::error::SeedPosition;
use crate::seed::fields::{Field, TableFields};
use crate::seed::format::{SeedFormat, parse};
use crate::seed::node::Value;
use memories_document::types::hint::Refused;
use memories_document::types::{fold_title, is_id, same_title};

/// A seed file's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeedSource {
    /// Name of the file in errors.
    pub name: String,
    /// The format of the text.
    pub format: SeedFormat,
    /// The content.
    pub text: String,
}

/// An agent as its seed describes it; empty fields count as absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Position of its description.
    pub position: SeedPosition,
    /// Its id: `[a-z0-9_-]+`.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Private: other agents are not given it.
    pub role: Option<String>,
    /// Visible to other agents.
    pub archetype: Option<String>,
    /// Visible to other agents.
    pub description: Option<String>,
    /// The private texts, in the order of [`OWN_KEYS`].
    pub own: [Option<String>; 6],
    /// Its relationships, as it sees them itself.
    pub relationships: Vec<Relationship>,
}

/// The relationship of an agent to another, in the agent's own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relationship {
    /// Its position in the files.
    pub position: SeedPosition,
    /// Id or name of the other, as written.
    pub to: String,
    /// The agent's description of it.
    pub text: String,
}

/// The scene that all agents share, in the order of [`SCENE_KEYS`].
pub(crate) type Scene = [Option<String>; 4];

/// The content of all seed files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cast {
    /// The agents, in the order of the files.
    pub agents: Vec<Agent>,
    /// The scene, if a file describes one.
    pub scene: Option<Scene>,
    /// Warnings about unknown keys, which are ignored.
    pub warnings: Vec<String>,
}

/// The keys of [`Agent::own`].
pub(crate) const OWN_KEYS: [&str; 6] =
    ["background", "communication_style", "decision_style", "traits", "skills", "values"];

/// Keys that with [`OWN_KEYS`] identify a table as an agent; `id` alone does not, since a scenario may have one.
const AGENT_KEYS: [&str; 3] = ["id", "role", "archetype"];

/// Keys that identify a table as a scene.
const SCENE_KEYS: [&str; 4] = ["location", "atmosphere", "time", "context"];

/// Keys of a file that holds several agents or a scene; such a file may also have `relationships`.
const FILE_KEYS: [&str; 6] = ["agents", "characters", "agent", "character", "scenario", "scene"];

/// The expectation of an agent, in errors.
const AN_AGENT: &str = "a table with `id` and `name`";

/// Reads the files into one cast.
///
/// # Errors
///
/// The first error, with its file and line.
pub fn read(sources: &[SeedSource]) -> Result<Cast, Refused> {
    let mut reading = Reading::default();
    for source in sources {
        let documents = parse(&source.text, source.format).map_err(|malformed| {
            let at = SeedPosition { file: source.name.clone(), line: malformed.line };
            Refused::fix(
                format!("{at} is not {}: {}", source.format.name(), malformed.problem),
                "correct the line; `--format` says toml, yaml or json where the file's name does not",
            )
        })?;
        for document in &documents {
            reading.document(Field::document(&source.name, document))?;
        }
    }
    reading.relate()?;
    let Reading { cast, .. } = reading;
    if cast.agents.is_empty() && cast.scene.is_none() {
        let names: Vec<String> = sources.iter().map(|source| format!("`{}`", source.name)).collect();
        let unknown = cast.warnings.first().map(|one| format!("; {one}")).unwrap_or_default();
        return Err(Refused::fix(
            format!("there is no agent and no scenario in {}{unknown}", names.join(", ")),
            "give agents under `agents`, each with `id` and `name`, or a `scenario` with `location`; see `--help`",
        ));
    }
    Ok(cast)
}

/// The cast while it is read.
#[derive(Default)]
struct Reading {
    cast: Cast,
    /// Position of each part of the scene.
    scene_positions: [Option<SeedPosition>; 4],
    /// Relationships listed outside the agents, each with its owner's id or name.
    beside: Vec<(String, Relationship)>,
}

impl Reading {
    /// Reads a document: a list of agents, one agent, one scenario, or a table of these.
    fn document(&mut self, document: Field<'_>) -> Result<(), Refused> {
        match document.value() {
            Value::Null => return Ok(()),
            Value::List(_) => return self.agents(&document),
            _ => {}
        }
        let fields = document.table("agents or a scenario")?;
        let several = fields.has_any(&FILE_KEYS);
        let only_agent = fields.has_any(&AGENT_KEYS[1..]) || fields.has_any(&OWN_KEYS);
        let agent = only_agent || fields.has_any(&["id", "name"]);
        let scene = fields.has_any(&SCENE_KEYS) && !only_agent;
        match (several, agent, scene) {
            (false, _, true) => self.scenario(fields),
            (false, true, _) => self.agent(fields, None),
            _ => self.parts(fields),
        }
    }

    fn parts(&mut self, mut fields: TableFields<'_>) -> Result<(), Refused> {
        for key in ["agents", "characters"] {
            if let Some(agents) = fields.take(key)? {
                self.agents(&agents)?;
            }
        }
        for key in ["agent", "character"] {
            if let Some(agent) = fields.take(key)? {
                self.agent(agent.table(AN_AGENT)?, None)?;
            }
        }
        for key in ["scenario", "scene"] {
            if let Some(scene) = fields.take(key)? {
                let expected = "a table with `location`, `atmosphere`, `time` and `context`";
                self.scenario(scene.table(expected)?)?;
            }
        }
        if let Some(relationships) = fields.take("relationships")? {
            self.relationships_beside(&relationships)?;
        }
        self.cast.warnings.extend(fields.unknown(&["agents", "scenario", "relationships"]));
        Ok(())
    }

    /// Reads agents: a list, or a table by id.
    fn agents(&mut self, agents: &Field<'_>) -> Result<(), Refused> {
        match agents.value() {
            Value::Null => Ok(()),
            Value::List(nodes) => {
                agents.items(nodes).try_for_each(|agent| self.agent(agent.table(AN_AGENT)?, None))
            }
            Value::Table(pairs) => agents
                .members(pairs)
                .try_for_each(|(key, agent)| self.agent(agent.table(AN_AGENT)?, Some(&key.name))),
            _ => Err(agents.wrong_kind("a list of agents")),
        }
    }

    fn agent(&mut self, mut fields: TableFields<'_>, key: Option<&str>) -> Result<(), Refused> {
        let position = fields.position();
        let id = fields.word("id")?;
        let name = fields.word("name")?;
        let id = match id.or_else(|| key.map(|key| (key.to_owned(), position.clone()))) {
            Some((id, _)) if is_id(&id) => id,
            Some((id, at)) => {
                let problem = format!("`{}` is `{id}`", fields.path("id"));
                return Err(at.wrong(problem, "lower-case letters, digits, `_` and `-`"));
            }
            None => match name.as_ref().map(|(name, _)| id_of_name(name)).filter(|id| is_id(id)) {
                Some(id) => id,
                None => {
                    let expected = "an `id` of lower-case letters, digits, `_` and `-`, and a `name`";
                    return Err(position.wrong(format!("{} has no `id`", fields.label()), expected));
                }
            },
        };
        if let Some(other) = self.cast.agents.iter().find(|agent| agent.id == id) {
            let expected = format!("another id than that of {}", other.position);
            return Err(position.wrong(format!("agent `{id}` is described twice"), expected));
        }
        let name = name.map_or_else(|| id.clone(), |(name, _)| name);
        let role = fields.text("role")?;
        let archetype = fields.text("archetype")?;
        let description = fields.text("description")?;
        let mut own = [const { None }; 6];
        for (own, key) in own.iter_mut().zip(OWN_KEYS) {
            *own = fields.texts(key)?;
        }
        let relationships = match fields.take("relationships")? {
            Some(field) => relationships(&field, &mut self.cast.warnings)?,
            None => Vec::new(),
        };
        let known = [&AGENT_KEYS[..], &OWN_KEYS, &["name", "description", "relationships"]].concat();
        self.cast.warnings.extend(fields.unknown(&known));
        self.cast.agents.push(Agent { position, id, name, role, archetype, description, own, relationships });
        Ok(())
    }

    fn scenario(&mut self, mut fields: TableFields<'_>) -> Result<(), Refused> {
        let position = fields.position();
        let mut parts: Scene = [const { None }; 4];
        for (part, key) in parts.iter_mut().zip(SCENE_KEYS) {
            *part = fields.texts(key)?;
        }
        // A scenario's description is the beginning of its context.
        if let Some(description) = fields.texts("description")? {
            let context = parts[3].take();
            parts[3] =
                Some(context.map_or(description.clone(), |context| format!("{description}\n\n{context}")));
        }
        self.cast.warnings.extend(fields.unknown(&[&SCENE_KEYS[..], &["description"]].concat()));
        let scene = self.cast.scene.get_or_insert_default();
        for (at, part) in parts.into_iter().enumerate().filter(|(_, part)| part.is_some()) {
            if let Some(other) = &self.scene_positions[at] {
                let problem = format!("the scene's `{}` is described twice", SCENE_KEYS[at]);
                return Err(position.wrong(problem, format!("only that of {other}")));
            }
            scene[at] = part;
            self.scene_positions[at] = Some(position.clone());
        }
        Ok(())
    }

    /// Reads relationships outside agents: a table by owner, or a list of tables with `from`, `to`, `text`.
    fn relationships_beside(&mut self, all: &Field<'_>) -> Result<(), Refused> {
        match all.value() {
            Value::Null => Ok(()),
            Value::Table(pairs) => all.members(pairs).try_for_each(|(key, field)| {
                let own = relationships(&field, &mut self.cast.warnings)?;
                self.beside.extend(own.into_iter().map(|one| (key.name.clone(), one)));
                Ok(())
            }),
            Value::List(nodes) => all.items(nodes).try_for_each(|item| {
                let mut fields = item.table("a table with `from`, `to` and `text`")?;
                let whose = fields.required(&["from", "of", "agent"])?;
                let one = relationship(&mut fields)?;
                self.cast.warnings.extend(fields.unknown(&["from", "to", "text"]));
                self.beside.push((whose, one));
                Ok(())
            }),
            _ => Err(all.wrong_kind("a table or list of relationships")),
        }
    }

    /// Adds the relationships listed outside the agents to their owners.
    fn relate(&mut self) -> Result<(), Refused> {
        for (whose, one) in std::mem::take(&mut self.beside) {
            let ids: Vec<String> = self.cast.agents.iter().map(|agent| format!("`{}`", agent.id)).collect();
            let agent = self.cast.agents.iter_mut().find(|agent| is_called(agent, &whose));
            let Some(agent) = agent else {
                let problem = format!("no agent of these files is called `{whose}`");
                let expected =
                    if ids.is_empty() { "one that is described".to_owned() } else { ids.join(" or ") };
                return Err(one.position.wrong(problem, expected));
            };
            agent.relationships.push(one);
        }
        Ok(())
    }
}

/// Compares an id or a name with an agent's.
pub(crate) fn is_called(agent: &Agent, name: &str) -> bool {
    agent.id == name || same_title(&agent.name, name)
}

/// An id derived from a name: `jo-ann` from `Jo Ann`.
pub(crate) fn id_of_name(name: &str) -> String {
    let folded = fold_title(name);
    folded.split_whitespace().collect::<Vec<_>>().join("-")
}

/// Reads an agent's relationships: a table by the others' ids, or a list of tables with `to` and `text`.
fn relationships(all: &Field<'_>, warnings: &mut Vec<String>) -> Result<Vec<Relationship>, Refused> {
    let mut found = Vec::new();
    match all.value() {
        Value::Null => {}
        Value::Table(pairs) => {
            for (key, field) in all.members(pairs) {
                let position = SeedPosition { line: key.line, ..field.position() };
                let text = field.texts()?;
                found.extend(text.map(|text| Relationship { position, to: key.name.clone(), text }));
            }
        }
        Value::List(nodes) => {
            for item in all.items(nodes) {
                let mut fields = item.table("a table with `to` and `text`")?;
                found.push(relationship(&mut fields)?);
                warnings.extend(fields.unknown(&["to", "text"]));
            }
        }
        _ => return Err(all.wrong_kind("a table by ids, or a list of relationships")),
    }
    Ok(found)
}

fn relationship(fields: &mut TableFields<'_>) -> Result<Relationship, Refused> {
    let position = fields.position();
    let to = fields.required(&["to", "with", "about", "id", "name"])?;
    let text = fields.required(&["text", "description", "relationship", "type"])?;
    Ok(Relationship { position, to, text })
}
