#!/usr/bin/env python3
"""Converses with the language model of `mynah serve` by the code of programs whose users point them at it: Home Assistant's ollama and
llama.cpp integrations with its log of a conversation, Open WebUI's routes to ollama. As live_programs.py does it.

usage: live_program_chats.py MYNAH MYNAH_WEIGHTS SOURCES

SOURCES has folders homeassistant and open_webui as live_programs.py says; where one is missing its checks are skipped. Runs with the packages of
tools/requirements-live.txt.
"""
import asyncio
import dataclasses
import importlib
import json
import os
import sys
import tempfile
import types

import aiohttp
import httpx
import ollama
from live_programs import HomeAssistantError, Program, Standin, Standins
from serving import CHAT_MODEL, Server, run_checks
from taught_model import write_taught

KEY = "key-of-this-test"
MODEL = f"{os.path.basename(CHAT_MODEL).removesuffix('.gguf')}:latest"
SYSTEM = "You are a voice assistant for Home Assistant."
TURN_ON = "Turn on the hall lamp."
# What the assistant said before it says again: SmolLM2 calls no tools by itself.
CALL = '<tool_call>{"name": "HassTurnOn", "arguments": {"name": "hall"}}</tool_call>'
FRANCE = "What is the capital of France? Answer in one sentence."
PARAMETERS = {"type": "object", "properties": {"name": {"type": "string", "enum": ["hall", "desk"]}, "floor": {"type": "integer", "minimum": 0, "maximum": 9}}, "required": ["name"], "additionalProperties": False}
CONTEXT = 1024  # ollama's package leaves out of a tool what would end a list, and so small a model may go on for ever
ANSWER = {"type": "object", "properties": {"speech": {"type": "string", "maxLength": 40}}, "required": ["speech"], "additionalProperties": False}


@dataclasses.dataclass
class Result:
    data: dict
    error: str | None = None


class Api:
    """What a voice assistant may do in the house."""

    custom_serializer = None
    tools = [types.SimpleNamespace(name="HassTurnOn", description="Turns on a device.", parameters=PARAMETERS)]

    def __init__(self):
        self.called = []

    async def async_call_tool(self, call):
        self.called.append((call.tool_name, call.tool_args))
        return Result({"success": True})


class HomeAssistantChats(Program):
    FOLDER = "homeassistant"
    REAL = ("ollama", "llama_cpp", "conversation.chat_log")

    def __init__(self, *given):
        super().__init__(*given)
        sys.meta_path.insert(0, Standins("homeassistant", self.sources, [f"homeassistant.components.{one}" for one in self.REAL], ["voluptuous", "probatio"]))
        self.stand_in()
        log = importlib.import_module("homeassistant.components.conversation.chat_log")
        self.log = log
        self.error = sys.modules["homeassistant.exceptions"].HomeAssistantError
        around = {name: Standin(name) for name in ("ConversationEntity", "AbstractConversationAgent", "ConversationEntityFeature")}
        importlib.import_module("homeassistant.components").conversation = types.SimpleNamespace(**vars(log) | around)
        self.ollama = importlib.import_module("homeassistant.components.ollama")
        self.ollama_entity = importlib.import_module("homeassistant.components.ollama.entity")
        self.llama = importlib.import_module("homeassistant.components.llama_cpp")
        self.llama_entity = importlib.import_module("homeassistant.components.llama_cpp.entity")
        self.hass = types.SimpleNamespace(data={}, config_entries=types.SimpleNamespace(async_forward_entry_setups=self.nothing))
        self.hass.async_add_executor_job = lambda function, *given: asyncio.to_thread(function, *given)
        self.hass.async_create_task = lambda steps, name=None: asyncio.ensure_future(steps)

    @staticmethod
    async def nothing(*_):
        pass

    @staticmethod
    def stand_in():
        """What of the program around is looked at."""

        class ToolInput:
            count = 0

            def __init__(self, tool_name, tool_args, id=None, external=False):
                ToolInput.count += 1
                self.tool_name, self.tool_args, self.id, self.external = tool_name, tool_args, id or f"call{ToolInput.count}", external

        modules = {
            "exceptions": {"HomeAssistantError": HomeAssistantError} | {name: type(name, (HomeAssistantError,), {}) for name in ("ConfigEntryAuthFailed", "ConfigEntryError", "ConfigEntryNotReady", "TemplateError")},
            "const": {name: name.removeprefix("CONF_").lower() for name in ("CONF_API_KEY", "CONF_MODEL", "CONF_PROMPT", "CONF_URL", "CONF_LLM_HASS_API", "MATCH_ALL")} | {"Platform": Standin("Platform")},
            "helpers.json": {"json_dumps": lambda value: json.dumps(value, separators=(",", ":"))},
            "helpers.entity": {"Entity": type("Entity", (), {"entity_id": "conversation.mynah"})},
            "helpers.httpx_client": {"get_async_client": lambda _: httpx.AsyncClient()},
            "util.ssl": {"get_default_context": lambda: True},
        }
        for name, values in modules.items():
            module = sys.modules[f"homeassistant.{name}"] = types.ModuleType(name)
            vars(module).update(values)
        helpers = importlib.import_module("homeassistant.helpers")
        helpers.llm = types.SimpleNamespace(ToolInput=ToolInput, ToolResult=Standin("ToolResult"), APIInstance=Standin("APIInstance"), Tool=Standin("Tool"), LLMContext=Standin("LLMContext"), selector_serializer=None)
        importlib.import_module("probatio").to_openapi = lambda schema, **_: schema

    def conversation(self, *said, api=None):
        """A log with a system's prompt and what was said, in turns."""
        log = self.log.ChatLog(self.hass, "01J0CONVERSATION0000000000")
        log.content[0] = self.log.SystemContent(content=SYSTEM)
        for i, text in enumerate(said):
            log.content.append(self.log.AssistantContent(agent_id="a", content=text) if i % 2 else self.log.UserContent(content=text))
        log.llm_api = api
        return log

    def entry(self, data, options, module):
        subentry = types.SimpleNamespace(data=options, subentry_id="1", title="mynah")
        entry = types.SimpleNamespace(data=data, options={}, subentries={"1": subentry}, async_on_unload=lambda _: None, add_update_listener=lambda _: None)
        return entry, subentry

    async def by_ollama(self, log, structure=None, **options):
        """The integration is set up, and answers."""
        entry, subentry = self.entry({"url": self.server.address, "api_key": KEY}, {"model": MODEL, "num_ctx": CONTEXT, "keep_alive": -1, "think": False, "max_history": 20} | options, self.ollama)
        await self.ollama.async_setup_entry(self.hass, entry)
        entity = self.ollama_entity.OllamaBaseLLMEntity(entry, subentry)
        entity.hass = self.hass
        await entity._async_handle_chat_log(log, structure)
        return log.content

    async def by_llama_cpp(self, log, streams, structure=None, validates=False, **options):
        entry, subentry = self.entry({"base_url": f"{self.server.address}/v1", "api_key": KEY, "streaming": streams}, {"chat_model": "gpt-3.5-turbo", "max_tokens": 60, "temperature": 0.0} | options, self.llama)
        await self.llama.async_setup_entry(self.hass, entry)
        api = importlib.import_module("homeassistant.components.llama_cpp.api")
        assert await api.async_list_models(entry.runtime_data)
        if validates:
            await api.async_validate_completions(entry.runtime_data, "gpt-3.5-turbo", stream=streams)
        entity = self.llama_entity.LlamaCppBaseLLMEntity(entry, subentry)
        entity.hass = self.hass
        await entity._async_handle_chat_log(log, "answer" if structure else None, structure)
        return log.content

    def ways(self):
        return [self.by_ollama, lambda *given, **more: self.by_llama_cpp(*given, False, **more), lambda *given, **more: self.by_llama_cpp(*given, True, **more)]

    def check_reply(self):
        for way in self.ways():
            content = self.run(way(self.conversation(FRANCE)))
            assert "Paris" in content[-1].content and content[-1].role == "assistant", content

    def check_what_is_asked_at_the_start(self):
        for streams in (False, True):
            self.run(self.by_llama_cpp(self.conversation(FRANCE), streams, validates=True))

    def check_rounds_of_tools(self):
        """Each call is done and told, until there is none, ten times at most."""
        for way in self.ways():
            api = Api()
            content = self.run(way(self.conversation(TURN_ON, CALL, TURN_ON, CALL, TURN_ON, api=api)))
            assert api.called and all(name == "HassTurnOn" and args["name"] == "hall" for name, args in api.called), (content, api.called)
            assert len(api.called) <= 10 and sum(one.role == "tool_result" for one in content) == len(api.called), content
            call = next(one for one in content if one.role == "assistant" and one.tool_calls)
            assert not call.content and call.tool_calls[0].id, call

    def check_form(self):
        """With tools beside it the model may call one in place of the answer."""
        asked = "Say that the lamp is on."
        for way in self.ways():
            content = self.run(way(self.conversation(asked), structure=ANSWER, max_tokens=100))
            assert set(json.loads(content[-1].content)) == {"speech"}, content
        for way in self.ways()[1:]:
            api = Api()
            content = self.run(way(self.conversation(asked, api=api), structure=ANSWER, max_tokens=100))
            assert api.called or set(json.loads(content[-1].content)) == {"speech"}, content

    def check_errors(self):
        """What is wrong is told to who converses, once."""
        for way in self.ways():
            try:
                self.run(way(self.conversation("word " * 20000)))
                raise AssertionError("wanted an error")
            except (self.error, ollama.ResponseError) as told:  # which it lets through where a stream begins with it
                assert f"maximum context length is {CONTEXT}" in str(told), told

    def check_context_that_is_not_there(self):
        try:
            self.run(self.by_ollama(self.conversation(FRANCE), num_ctx=8192))
            raise AssertionError("wanted an error")
        except ollama.ResponseError as told:
            assert "8192 tokens are wanted" in str(told), told


class Refused(Exception):
    def __init__(self, status_code, detail=None, headers=None):
        super().__init__(status_code, detail, headers)


class OpenWebUiChats(Program):
    """Its routes to an ollama: models, what is loaded, versions, conversations."""

    FOLDER = "open_webui"

    def __init__(self, *given):
        super().__init__(*given)
        around = ["fastapi", "starlette", "aiocache", "sqlalchemy", "aiofiles"]
        sys.meta_path.insert(0, Standins("open_webui", self.sources, ["open_webui.routers.ollama"], around))
        importlib.import_module("aiocache").cached = lambda **_: lambda function: function
        routes = self.routes = importlib.import_module("open_webui.routers.ollama")
        self.session = None
        values = {"ollama.enable": True, "ollama.base_urls": [self.server.address], "ollama.api_configs": {"0": {"enable": True, "key": KEY}}}

        async def get(name, other=None):
            return values.get(name, other)

        async def get_many(*names):
            return {name: values[name] for name in names}

        async def nothing(*_, **__):
            return None

        async def headers(request, url, key, *_, **__):
            return {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}, {}

        routes.Config = types.SimpleNamespace(get=get, get_many=get_many)
        routes.Models = types.SimpleNamespace(get_model_by_id=nothing)
        routes.get_session, routes.get_headers_and_cookies = self.kept_session, headers
        routes.check_model_access = routes.cleanup_response = routes.publish_model_provider_request_failed = nothing
        routes.strip_provider_model_prefix = lambda model, _: model
        routes.get_client_timeout = lambda stream: aiohttp.ClientTimeout(total=60)
        routes.JSONCodec, routes.AIOHTTP_CLIENT_SESSION_SSL, routes._MODEL_LIST_TIMEOUT = json, None, aiohttp.ClientTimeout(total=60)
        routes.stream_wrapper = lambda answer, **_: answer
        routes.StreamingResponse = lambda answer, **_: answer
        routes.HTTPException = Refused
        self.request = types.SimpleNamespace(state=types.SimpleNamespace(), app=types.SimpleNamespace(state=types.SimpleNamespace()))

    async def kept_session(self):
        return self.session

    def ask(self, steps):
        async def with_session():
            async with aiohttp.ClientSession() as self.session:
                return await steps()

        return self.run(with_session())

    def conversation(self, text=FRANCE, **fields):
        return {"model": MODEL, "messages": [{"role": "user", "content": text}], "options": {"temperature": 0, "num_predict": 24}, "metadata": {"chat_id": "1"}} | fields

    def check_lists(self):
        async def ask():
            models = await self.routes.get_all_models(self.request)
            assert self.request.app.state.OLLAMA_MODELS.keys() == {one["model"] for one in models["models"]}, models
            form = self.routes.ConnectionVerificationForm(url=self.server.address, key=KEY, config={})
            return models["models"], await self.routes.verify_connection(self.request, form, user=None), await self.routes.get_ollama_versions(self.request, None)

        models, version, lowest = self.ask(ask)
        assert models[0]["model"] == MODEL and models[0]["details"]["family"] and models[0]["size"] > 0 and models[0]["urls"] == [0], models
        assert version["version"] == lowest["version"] and int(lowest["version"].split(".")[1]) >= 12, (version, lowest)

    def check_loaded(self):
        self.ask(lambda: self.routes.generate_chat_completion(self.request, self.conversation(stream=False), 0, None))
        loaded = self.ask(lambda: self.routes.get_ollama_loaded_models(self.request, user=None))["models"]
        assert MODEL in [one["model"] for one in loaded], loaded

    def check_conversation(self):
        whole = self.ask(lambda: self.routes.generate_chat_completion(self.request, self.conversation(stream=False), 0, None))
        assert "Paris" in whole["message"]["content"] and whole["done"] and whole["eval_count"] > 2, whole

        async def stream():
            answer = await self.routes.generate_chat_completion(self.request, self.conversation(stream=True), 0, None)
            return [json.loads(line) async for line in answer.content]

        lines = self.ask(stream)
        assert "".join(one["message"]["content"] for one in lines) == whole["message"]["content"] and lines[-1]["done"], lines

    def check_errors(self):
        for text, word in (("word " * 20000, f"maximum context length is {CONTEXT}"),):
            try:
                self.ask(lambda: self.routes.generate_chat_completion(self.request, self.conversation(text, stream=True), 0, None))
                raise AssertionError("wanted an error")
            except Refused as told:
                assert word in str(told), told


def main():
    program, weights, sources = sys.argv[1:]
    if not os.path.isfile(f"{weights}/{CHAT_MODEL}") or not os.path.isdir(f"{weights}/tiny.en"):
        print("no weights here")
        return 77
    kinds = [HomeAssistantChats, OpenWebUiChats]
    skipped = [kind for kind in kinds if not os.path.isdir(f"{sources}/{kind.FOLDER}")]
    for kind in skipped:
        print(f"skipped: there is no {sources}/{kind.FOLDER}")
    with tempfile.TemporaryDirectory() as home:
        server = Server(program, weights, home, ["--wyoming-port", "0", "--chat-context", str(CONTEXT), "--voice-model", "builtin", "--chat-model", write_taught(f"{weights}/{CHAT_MODEL}", f"{home}/{os.path.basename(CHAT_MODEL)}")], {"MYNAH_API_KEYS": KEY})
        passed = failed = 0
        try:
            for kind in kinds:
                if kind not in skipped:
                    counts = run_checks(kind(server, None, f"{sources}/{kind.FOLDER}"))
                    passed, failed = passed + counts[0], failed + counts[1]
        finally:
            code = server.stop()
        if code != 0:
            failed += 1
            print(f"FAILED: the server ended with {code}:\n{''.join(server.log)}")
    print(f"{passed} passed, {failed} failed, {len(skipped)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
