//! Handles the requests of the protocol with tools, resources and prompts.

#![expect(
    deprecated,
    reason = "logging leaves the protocol one day; the versions that clients speak have it"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use axum::http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, DiscoverResult, ErrorData, GetPromptRequestParams, GetPromptResponse,
    Implementation, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, LoggingLevel, PaginatedRequestParams,
    Prompt, PromptArgument, ReadResourceRequestParams, ReadResourceResponse, ResourceTemplate,
    ServerCapabilities, ServerConfig, SetLevelRequestParams, ToolAnnotations, object,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::io::stdio_pipes;
use rmcp::{ServerHandler, serve_server};
use tokio::io::AsyncReadExt;
use tokio::sync::Semaphore;

use crate::mcp::access::{Memories, Setup, Watcher};
use crate::mcp::answer::{Answer, Refusal};
use crate::mcp::calls::{self, Making, Room};
use crate::mcp::error::ServeError;
use crate::mcp::parameter::Parameter;
use crate::mcp::tools::{Effect, Tool, Toolbox, answer_schema, arguments_schema};
use crate::mcp::{methods, prompts, resources, said};
use memories_document::types::frame::{INDENT, continued};
use memories_document::types::model_text::{ModelText, ModelValue};

/// Resources on one page of the list.
const PAGE: usize = 200;

/// A server: the memory file and the tools offered. Each session has one of its own; they share the memory file.
pub(crate) struct Server {
    memories: Arc<Memories>,
    toolbox: Toolbox,
    /// Room for calls that run or wait.
    calls: Arc<Semaphore>,
    making: Making,
    /// Minimum level of log messages for the client, as a number: higher ones are more severe.
    level: AtomicU8,
}

/// Serves the client on stdin and stdout until it leaves.
///
/// # Errors
///
/// [`ServeError::Protocol`] if the client does not initialize the session.
pub async fn run(server: Server) -> Result<(), ServeError> {
    use rmcp::service::ServerInitializeError as Error;
    let (requests, answers) = stdio_pipes();
    // A last line may lack its line break: empty lines are passed over.
    let requests = requests.chain(&b"\n"[..]).chain(calls::EndOfCalls::new(&server.calls));
    match serve_server(server, (requests, answers)).await {
        Ok(service) => {
            // Ends when the client leaves; an error here could only be a panic inside the SDK.
            let _ = service.waiting().await;
            Ok(())
        }
        Err(Error::ConnectionClosed(_) | Error::Cancelled) => Ok(()),
        Err(error) => Err(ServeError::Protocol(error.to_string())),
    }
}

impl Server {
    pub(crate) fn new(memories: Memories) -> Server {
        let Setup { groups, read_only, agent, .. } = &memories.setup;
        let toolbox = Toolbox::new(groups, *read_only, agent.is_some());
        let (memories, calls) = (Arc::new(memories), Arc::new(Semaphore::new(calls::MAX_CALLS as usize)));
        let level = AtomicU8::new(LoggingLevel::Warning as u8);
        Server { memories, toolbox, calls, making: Making::new(), level }
    }

    /// The server for a further session.
    pub(super) fn for_session(&self) -> Server {
        let Server { memories, toolbox, calls, making, level: _ } = self;
        let level = AtomicU8::new(LoggingLevel::Warning as u8);
        let (memories, calls, making) = (Arc::clone(memories), Arc::clone(calls), making.clone());
        Server { memories, toolbox: toolbox.clone(), calls, making, level }
    }

    /// True if no groups of tools are offered: memory is switched off.
    fn is_off(&self) -> bool {
        self.memories.setup.groups.is_empty()
    }

    /// Waits for the room of an answer. Calls that write need none: they answer in few words, and may ask a model.
    async fn room(&self, context: &RequestContext<RoleServer>, effect: Effect) -> Option<Room> {
        match effect {
            Effect::Reads => Some(self.making.room(context, self.memories.store().size()).await),
            _ => None,
        }
    }

    /// Sends a log message if the client wants its level.
    async fn log(&self, context: &RequestContext<RoleServer>, level: LoggingLevel, text: &str) {
        if !methods::is_stateless(context) && level as u8 >= self.level.load(Ordering::Relaxed) {
            let line = said::log(level, &ModelText::of(text));
            let _ = context.peer.notify_logging_message(line).await;
        }
    }

    /// The result of a tool call for the client, with log messages.
    async fn result(
        &self,
        context: &RequestContext<RoleServer>,
        tool: &str,
        result: Result<Answer, Refusal>,
    ) -> CallToolResult {
        match result {
            Ok(Answer { mut text, data, warnings, for_programs }) => {
                for warning in &warnings {
                    self.log(context, LoggingLevel::Warning, &format!("{tool}: {warning}")).await;
                    text.push_str(&format!("warning: {}\n", continued(warning, INDENT)));
                }
                self.log(context, LoggingLevel::Debug, &format!("{tool}: done")).await;
                let is_same = SAME_ANSWER.contains(&tool) && said::is_for_programs(&context.meta);
                let for_programs = for_programs.or_else(|| is_same.then(|| data.clone()));
                said::answer(ModelText::of(&text), ModelValue::of(data), for_programs)
            }
            Err(refusal) => {
                self.log(context, LoggingLevel::Info, &format!("{tool}: {}", refusal.problem)).await;
                said::refusal(ModelText::of(&refusal.text()), ModelValue::of(refusal.value()))
            }
        }
    }
}

/// Tools that answer a program as the command line does with `--json`. A model gets the same values, cleaned.
const SAME_ANSWER: [&str; 4] = ["find_path", "next_steps", "record_turn", "unexplored"];

/// Time for which a client may keep what is the same as long as the server runs, in milliseconds. Sections change at
/// any time, so their list and texts are not kept.
const FRESH: u64 = 60 * 60 * 1000;

/// A tool in the protocol's form.
fn protocol_tool(tool: &Tool) -> rmcp::model::Tool {
    let annotations = ToolAnnotations::new().read_only(tool.effect == Effect::Reads);
    let annotations = match tool.effect {
        // The protocol gives the other hints a meaning only for tools that write.
        Effect::Reads => annotations,
        Effect::Adds => annotations.destructive(false).idempotent(false),
        Effect::AddsOnce => annotations.destructive(false).idempotent(true),
        Effect::Strikes => annotations.destructive(true).idempotent(true),
    };
    rmcp::model::Tool::new(tool.name, tool.about, object(arguments_schema(tool.parameters)))
        .with_title(tool.title)
        .with_raw_output_schema(Arc::new(object(answer_schema(tool.answer))))
        .with_annotations(annotations)
}

/// The time for a list that does not change, in the versions that have one.
fn fresh(context: &RequestContext<RoleServer>) -> Option<u64> {
    methods::is_stateless(context).then_some(FRESH)
}

/// The error of a request other than a tool call; its message contains the hints.
fn refused(refusal: &Refusal) -> ErrorData {
    said::invalid(ModelText::of(&refusal.text()))
}

/// Runs a request that reads, on a thread of its own.
async fn read<T: Send + 'static>(
    server: &Server,
    context: &RequestContext<RoleServer>,
    work: impl FnOnce(&Memories) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, ErrorData> {
    let memories = Arc::clone(&server.memories);
    let room = server.room(context, Effect::Reads);
    calls::run(&server.calls, context, room, move |_| work(&memories))
        .await?
        .map_err(|refusal| refused(&refusal))
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let about = Implementation::new("memories", env!("CARGO_PKG_VERSION"));
        if self.is_off() {
            return ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
                .with_server_info(about);
        }
        let capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_prompts()
            .enable_resources()
            .enable_tools()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(about)
            .with_instructions(prompts::instructions(&self.toolbox, self.memories.setup.agent.as_deref()))
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        // On stdin it begins a session of an older version, whatever the request says of itself.
        if context.extensions.get::<Parts>().is_some() {
            methods::check("initialize", &context)?;
        }
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let mut info = self.get_info();
        // It is deprecated, as roots and sampling are.
        info.capabilities.logging = None;
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, info).with_ttl_ms(FRESH))
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(methods::unknown("completion/complete", &context))
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        methods::check("logging/setLevel", &context)?;
        self.level.store(request.level as u8, Ordering::Relaxed);
        Ok(())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.toolbox.iter().map(protocol_tool).collect();
        Ok(ListToolsResult { ttl_ms: fresh(&context), ..ListToolsResult::with_all_items(tools) })
    }

    fn get_tool(&self, name: &str) -> Option<rmcp::model::Tool> {
        self.toolbox.find(name).ok().map(protocol_tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = match self.toolbox.find(&request.name) {
            Ok(tool) => tool,
            Err(refusal) => return Ok(self.result(&context, &request.name, Err(refusal)).await.into()),
        };
        let memories = Arc::clone(&self.memories);
        let arguments = request.arguments.unwrap_or_default();
        let by_program = said::is_for_programs(&context.meta);
        let call = move |watcher: &Watcher| {
            let damage = memories.new_damage();
            let mut answer = tool.call(&memories, watcher, &arguments, by_program)?;
            answer.warnings.extend(damage);
            Ok(answer)
        };
        let room = self.room(&context, tool.effect);
        let result = calls::run(&self.calls, &context, room, call).await?;
        Ok(self.result(&context, tool.name, result).await.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let start = match request.and_then(|request| request.cursor) {
            None => 0,
            Some(cursor) => cursor.parse().map_err(|_| {
                said::invalid(ModelText::of(&format!("`{cursor}` is not a cursor of this list")))
            })?,
        };
        if self.is_off() {
            return Ok(ListResourcesResult::default());
        }
        let all = read(self, &context, resources::list).await?;
        let page =
            all.iter().skip(start).take(PAGE).map(|resource| said::resource(&resource.uri, &resource.name));
        let mut result = ListResourcesResult::with_all_items(page.collect());
        result.next_cursor = (start + PAGE < all.len()).then(|| (start + PAGE).to_string());
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = resources::TEMPLATES.iter().filter(|_| !self.is_off()).map(|(uri, name, about)| {
            ResourceTemplate::new(*uri, *name).with_description(*about).with_mime_type(said::MIME_TYPE)
        });
        let result = ListResourceTemplatesResult::with_all_items(templates.collect());
        Ok(ListResourceTemplatesResult { ttl_ms: fresh(&context), ..result })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        if self.is_off() {
            return Err(said::no_resource(ModelText::of("memory is switched off"), &uri));
        }
        let wanted = uri.clone();
        match read(self, &context, move |memories| resources::read(memories, &wanted)).await? {
            Ok(text) => Ok(said::contents(text, uri).into()),
            Err(refusal) => Err(said::no_resource(ModelText::of(&refusal.text()), &uri)),
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let listed = prompts::offered(&self.toolbox).filter(|_| !self.is_off());
        let listed = listed.map(|prompt| {
            let argument = |parameter: &Parameter| {
                PromptArgument::new(parameter.name).with_description(parameter.about).with_required(false)
            };
            Prompt::new(
                prompt.name,
                Some(prompt.about),
                Some(prompt.arguments.iter().map(argument).collect()),
            )
        });
        let result = ListPromptsResult::with_all_items(listed.collect());
        Ok(ListPromptsResult { ttl_ms: fresh(&context), ..result })
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let prompt = prompts::find(&request.name, &self.toolbox).map_err(|refusal| refused(&refusal))?;
        let (memories, toolbox) = (Arc::clone(&self.memories), self.toolbox.clone());
        let arguments = request.arguments.unwrap_or_default();
        let render = move |watcher: &Watcher| prompt.render(&memories, watcher, &toolbox, &arguments);
        let text = calls::run(&self.calls, &context, self.room(&context, Effect::Reads), render);
        let text = text.await?.map_err(|refusal| refused(&refusal))?;
        Ok(said::prompt(text, prompt.about).into())
    }

    /// A request that the SDK could not read: of a method that is not known, or with wrong parameters.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(methods::unread(request, &context))
    }
}
