#!/usr/bin/env python3
"""Uses the language model of `mynah serve` by the services that voice agents are made of (tools/requirements-live.txt), as they are: LiveKit's
and pipecat's, the agents of openai-agents, and LangChain's models, each pointed at the server by its address and a key alone. Replies are
streamed, interrupted, called tools for, and begun with what was read before.

usage: live_writing.py MYNAH MYNAH_WEIGHTS
"""
import asyncio
import json
import os
import re
import sys
import tempfile
import time
import typing

import agents
import openai
import pydantic
import requests
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool as langchain_tool
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI
from live_clients import KEY, Collector, run_pipeline
from livekit.agents import APIConnectOptions, APIStatusError
from livekit.agents import llm as livekit
from livekit.plugins import openai as livekit_openai
from loguru import logger
from pipecat.adapters.llm.schemas.function_schema import FunctionSchema
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import ErrorFrame, FunctionCallResultFrame, InterruptionFrame, LLMFullResponseEndFrame, LLMMessagesAppendFrame, LLMTextFrame, MetricsFrame
from pipecat.metrics.metrics import LLMUsageMetricsData
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.services.ollama.llm import OLLamaLLMService
from pipecat.services.openai.llm import OpenAILLMService
from serving import CHAT_MODEL, Server, run_checks
from taught_model import write_taught

PATIENCE_S = 200
MODEL = os.path.basename(CHAT_MODEL).removesuffix(".gguf")
SYSTEM = "You are a voice assistant in a house by the sea. Answer in one short sentence and keep to what you were asked."
FRANCE = "What is the capital of France? Answer in one sentence."
ITALY = "And what is the capital of Italy?"
GOES_ON = {"logit_bias": {"2": -100}}  # SmolLM2 does not end its reply by itself
STORY = "Count from one to one thousand in words, each in a line of its own."
LONG = 4000  # tokens: minutes
ROOMS = ("hall", "desk")


class Lamp(pydantic.BaseModel):
    name: str
    is_on: bool


class Told:
    """What the server says of itself."""

    def __init__(self, address):
        self.address = address
        self.headers = {"Authorization": f"Bearer {KEY}"}

    def written(self):
        told = requests.get(f"{self.address}/metrics", headers=self.headers, timeout=PATIENCE_S).text
        return sum(float(found) for found in re.findall(r'^mynah_tokens_total\{kind="written"\} (\S+)', told, re.MULTILINE))

    def under_way(self):
        return requests.get(f"{self.address}/v1/queue", headers=self.headers, timeout=PATIENCE_S).json()["requests"]

    def until_all_ended(self):
        """Once nobody waits for a reply nothing is written any more: far sooner than all of it would take."""
        end = time.monotonic() + 5
        while left := self.under_way():
            assert time.monotonic() < end, left
            time.sleep(0.05)


class Writing:
    """What every client is told, and what is said to it."""

    def __init__(self, address):
        self.address = address
        self.base = f"{address}/v1"
        self.told = Told(address)

    def known(self):
        return {"base_url": self.base, "api_key": KEY}

    @staticmethod
    def run(steps):
        return asyncio.run(asyncio.wait_for(steps, PATIENCE_S))


@livekit.function_tool(name="turn_on", description="Turns on a lamp.")
async def livekit_turn_on(name: typing.Literal["hall", "desk"]):
    return f"{name} is on"


class LiveKitChecks(Writing):
    def conversation(self, *said):
        context = livekit.ChatContext.empty()
        context.add_message(role="system", content=SYSTEM)
        for role, content in said:
            context.add_message(role=role, content=content)
        return context

    def service(self, **more):
        return livekit_openai.LLM(**self.known(), **({"model": "gpt-4o-mini", "temperature": 0, "max_completion_tokens": 24} | more))

    def check_stream_and_what_was_read_before(self):
        async def ask():
            service = self.service()
            context = self.conversation(("user", FRANCE))
            stream = service.chat(chat_ctx=context)
            chunks = [one async for one in stream]
            await stream.aclose()
            said = "".join(one.delta.content or "" for one in chunks if one.delta)
            assert "Paris" in said and sum(bool(one.delta and one.delta.content) for one in chunks) > 2, chunks
            context.add_message(role="assistant", content=said)
            context.add_message(role="user", content=ITALY)
            second = await service.chat(chat_ctx=context).collect()
            first = next(one.usage for one in chunks if one.usage)
            assert second.text and second.usage.prompt_cached_tokens >= first.prompt_tokens, (first, second.usage)
            await service.aclose()

        self.run(ask())

    def check_interrupted(self):
        async def ask():
            service = self.service(max_completion_tokens=LONG, extra_body=GOES_ON)
            stream = service.chat(chat_ctx=self.conversation(("user", STORY)))
            said = 0
            async for chunk in stream:
                said += bool(chunk.delta and chunk.delta.content)
                if said > 5:
                    break
            assert self.told.under_way()
            await stream.aclose()
            await asyncio.to_thread(self.told.until_all_ended)
            await service.aclose()

        before = self.told.written()
        self.run(ask())
        assert self.told.written() - before < LONG / 2

    def check_round_of_tools(self):
        async def ask():
            service = self.service(max_completion_tokens=60)
            context = self.conversation(("user", "Turn on the hall lamp."))
            tools = [livekit_turn_on]
            called = await service.chat(chat_ctx=context, tools=tools, tool_choice="required").collect()
            assert [one.name for one in called.tool_calls] == ["turn_on"] and called.tool_calls[0].call_id, called
            assert json.loads(called.tool_calls[0].arguments)["name"] in ROOMS
            result = await livekit.execute_function_call(called.tool_calls[0], livekit.ToolContext(tools))
            context.items += [result.fnc_call, result.fnc_call_out]
            told = await service.chat(chat_ctx=context, tools=tools, tool_choice="none").collect()
            assert told.text and not told.tool_calls, told
            await service.aclose()

        self.run(ask())

    def check_form(self):
        async def ask():
            told = await self.service(max_completion_tokens=100).chat(chat_ctx=self.conversation(("user", "The hall lamp is on. As JSON?")), response_format=Lamp).collect()
            Lamp.model_validate_json(told.text)

        self.run(ask())

    def check_ollama(self):
        async def ask():
            service = livekit_openai.LLM.with_ollama(model="llama3.1", base_url=self.base, temperature=0, client=openai.AsyncOpenAI(**self.known()))
            told = await service.chat(chat_ctx=self.conversation(("user", FRANCE))).collect()
            assert "Paris" in told.text, told

        self.run(ask())

    def check_errors(self):
        """Each is told at once, and is not asked for again."""

        async def ask():
            for more, said, status, word in (({"api_key": "another"}, FRANCE, 401, "key"), ({}, "word " * 20000, 400, "maximum context length")):
                service = livekit_openai.LLM(**self.known() | more)
                try:
                    await service.chat(chat_ctx=self.conversation(("user", said)), conn_options=APIConnectOptions(max_retry=0)).collect()
                    raise AssertionError("wanted an error")
                except APIStatusError as told:
                    assert told.status_code == status and word in told.message and not told.retryable, told

        self.run(ask())


class PipecatWriting(Writing):
    """Pipelines of pipecat: what the user said stands in a context, and what came of it is put there."""

    SERVICES = (OpenAILLMService, OLLamaLLMService)

    def service(self, kind, **more):
        settings = {"model": "gpt-4.1", "temperature": 0.0, "max_completion_tokens": 24} | more
        return kind(**self.known(), settings=kind.Settings(**settings))

    def context(self, **more):
        return LLMContext([{"role": "system", "content": SYSTEM}], **more)

    def converse(self, service, context, steps):
        """What `steps` gives; the frames that came until then are its second argument's."""
        pair = LLMContextAggregatorPair(context)
        end = Collector()
        told = self.run(run_pipeline([pair.user(), service, end, pair.assistant()], end, steps, metrics=True))
        assert not told[1], told[1]
        return told[0]

    @staticmethod
    async def say(worker, text):
        await worker.queue_frame(LLMMessagesAppendFrame([{"role": "user", "content": text}], run_llm=True))

    @staticmethod
    async def turn(end, number):
        """Frames up to the end of so many replies."""
        while sum(isinstance(one, LLMFullResponseEndFrame) for one in end.frames) < number:
            assert not any(isinstance(one, ErrorFrame) for one in end.frames), end.frames
            end.came.clear()
            await end.came.wait()
        await asyncio.sleep(0.2)  # what was said is put into the context

    @staticmethod
    def usage(frames):
        return [data.value for one in frames if isinstance(one, MetricsFrame) for data in one.data if isinstance(data, LLMUsageMetricsData)]

    def check_stream_and_what_was_read_before(self):
        for kind in self.SERVICES:
            context = self.context()

            async def steps(worker, end):
                await self.say(worker, FRANCE)
                await self.turn(end, 1)
                await self.say(worker, ITALY)
                await self.turn(end, 2)
                return end.frames

            frames = self.converse(self.service(kind), context, steps)
            texts = [one.text for one in frames if isinstance(one, LLMTextFrame)]
            assert len(texts) > 4 and "Paris" in "".join(texts), texts
            assert [one["role"] for one in context.messages] == ["system", "user", "assistant", "user", "assistant"], context.messages
            first, second = self.usage(frames)
            assert second.cache_read_input_tokens >= first.prompt_tokens, (first, second)

    def check_interrupted(self):
        async def steps(worker, end):
            await self.say(worker, STORY)
            while sum(isinstance(one, LLMTextFrame) for one in end.frames) < 5:
                end.came.clear()
                await end.came.wait()
            assert self.told.under_way()
            await worker.queue_frame(InterruptionFrame())
            await asyncio.to_thread(self.told.until_all_ended)

        before = self.told.written()
        self.converse(self.service(OpenAILLMService, max_completion_tokens=LONG, extra={"extra_body": GOES_ON}), self.context(), steps)
        assert self.told.written() - before < LONG / 2

    def check_round_of_tools(self):
        called = []
        schema = FunctionSchema(name="turn_on", description="Turns on a lamp.", properties={"name": {"type": "string", "enum": list(ROOMS)}}, required=["name"])
        context = self.context(tools=ToolsSchema(standard_tools=[schema]), tool_choice="required")
        service = self.service(OpenAILLMService, max_completion_tokens=60)

        async def turn_on(params):
            called.append(params.arguments)
            context.set_tool_choice("none")
            await params.result_callback({"success": True})

        service.register_function("turn_on", turn_on)

        async def steps(worker, end):
            await self.say(worker, "Turn on the hall lamp.")
            await end.until(FunctionCallResultFrame)
            await self.turn(end, 2)

        self.converse(service, context, steps)
        assert len(called) == 1 and called[0]["name"] in ROOMS, called
        roles = [one["role"] for one in context.messages]
        assert roles == ["system", "user", "assistant", "tool", "assistant"], context.messages

    def check_inference(self):
        """Beside a pipeline, unstreamed, with a message of a developer."""

        async def ask():
            context = LLMContext([{"role": "developer", "content": SYSTEM}, {"role": "user", "content": FRANCE}])
            return await self.service(OpenAILLMService).run_inference(context)

        assert "Paris" in self.run(ask())


@agents.function_tool
def turn_on(name: typing.Literal["hall", "desk"]) -> str:
    """Turns on a lamp."""
    return f"{name} is on"


class AgentsWriting(Writing):
    """Agents of openai-agents, which ask by chat completions or by Responses."""

    def with_each(self, ask):
        async def go(kind):
            async with openai.AsyncOpenAI(**self.known(), max_retries=0) as client:
                await ask(kind(model="gpt-4o-mini", openai_client=client))

        for kind in (agents.OpenAIChatCompletionsModel, agents.OpenAIResponsesModel):
            self.run(go(kind))

    def agent(self, model, settings=None, **more):
        return agents.Agent(name="house", instructions=SYSTEM, model=model, model_settings=agents.ModelSettings(**{"temperature": 0, "max_tokens": 60} | (settings or {})), **more)

    def check_reply(self):
        async def ask(model):
            told = await agents.Runner.run(self.agent(model), FRANCE)
            assert "Paris" in told.final_output, told
            again = await agents.Runner.run(self.agent(model), [*told.to_input_list(), {"role": "user", "content": ITALY}])
            usage = again.context_wrapper.usage
            assert again.final_output and usage.input_tokens_details.cached_tokens > 30, usage

        self.with_each(ask)

    def check_tools(self):
        """A tool that must be called and is; behind it the choice is the model's own."""

        async def ask(model):
            told = await agents.Runner.run(self.agent(model, {"tool_choice": "required"}, tools=[turn_on]), "Turn on the hall lamp.", max_turns=9)
            kinds = [one.type for one in told.new_items]
            assert kinds[:2] == ["tool_call_item", "tool_call_output_item"] and told.new_items[1].output.endswith(" is on"), told.new_items
            assert kinds[-1] == "message_output_item" and told.final_output, kinds

        self.with_each(ask)

    def check_form(self):
        async def ask(model):
            told = await agents.Runner.run(self.agent(model, {"max_tokens": 100}, output_type=Lamp), "The hall lamp is on. As JSON?")
            assert isinstance(told.final_output, Lamp), told

        self.with_each(ask)

    def check_stream_and_interrupted(self):
        async def ask(model):
            whole = agents.Runner.run_streamed(self.agent(model), FRANCE)
            deltas = [one.data.delta async for one in whole.stream_events() if one.type == "raw_response_event" and one.data.type == "response.output_text.delta"]
            assert "".join(deltas) == whole.final_output and len(deltas) > 2, deltas
            before = await asyncio.to_thread(self.told.written)
            cut = agents.Runner.run_streamed(self.agent(model, {"max_tokens": LONG, "extra_body": {"stop": "nobody says this"}}), STORY)
            seen = 0
            async for event in cut.stream_events():
                seen += event.type == "raw_response_event"
                if seen == 12:
                    cut.cancel()
            await asyncio.to_thread(self.told.until_all_ended)
            assert await asyncio.to_thread(self.told.written) - before < LONG / 2

        self.with_each(ask)


@langchain_tool
def langchain_turn_on(name: typing.Literal["hall", "desk"]) -> str:
    """Turns on a lamp."""
    return f"{name} is on"


class LangChainChecks(Writing):
    """The models of langchain-openai and langchain-ollama."""

    def openai(self, **more):
        return ChatOpenAI(**self.known(), **{"model": "gpt-4o-mini", "temperature": 0, "max_tokens": 60, "stream_usage": True} | more)

    def ollama(self, **more):
        return ChatOllama(base_url=self.address, client_kwargs={"headers": {"Authorization": f"Bearer {KEY}"}}, **{"model": MODEL, "temperature": 0, "num_predict": 60, "num_ctx": 4096} | more)

    def check_stream(self):
        for model in (self.openai(), self.ollama(), self.openai(use_responses_api=True)):
            whole = None
            count = 0
            for chunk in model.stream([("system", SYSTEM), ("human", FRANCE)]):
                whole = chunk if whole is None else whole + chunk
                count += 1
            assert "Paris" in whole.text and count > 3, whole
            assert whole.usage_metadata["input_tokens"] > 20 and whole.usage_metadata["output_tokens"] > 1, whole
            assert "Paris" in model.invoke([("system", SYSTEM), ("human", FRANCE)]).text

    def check_form(self):
        asked = "The hall lamp is on. As JSON?"
        for model, method in ((self.openai(), "json_schema"), (self.openai(), "function_calling"), (self.ollama(), "json_schema")):
            told = model.with_structured_output(Lamp, method=method).invoke(asked)
            assert isinstance(told, Lamp), (method, told)

    def check_tools(self):
        asked = [HumanMessage("Turn on the hall lamp.")]
        told = self.openai().bind_tools([langchain_turn_on], tool_choice="any").invoke(asked)
        assert [one["name"] for one in told.tool_calls] == ["langchain_turn_on"] and told.tool_calls[0]["args"]["name"] in ROOMS, told
        result = ToolMessage(langchain_turn_on.invoke(told.tool_calls[0]["args"]), tool_call_id=told.tool_calls[0]["id"])
        for model in (self.openai(), self.ollama()):
            assert model.bind_tools([langchain_turn_on]).invoke([*asked, told, result]).response_metadata


def main():
    program, weights = sys.argv[1:]
    if not os.path.isfile(f"{weights}/{CHAT_MODEL}") or not os.path.isdir(f"{weights}/tiny.en"):
        print("no weights here")
        return 77
    logger.remove()  # pipecat's, which tells every frame
    agents.set_tracing_disabled(True)
    with tempfile.TemporaryDirectory() as home:
        server = Server(program, weights, home, ["--wyoming-port", "0", "--voice-model", "builtin", "--chat-model", write_taught(f"{weights}/{CHAT_MODEL}", f"{home}/{os.path.basename(CHAT_MODEL)}")], {"MYNAH_API_KEYS": KEY})
        requests.post(f"{server.address}/api/generate", json={}, headers={"Authorization": f"Bearer {KEY}"}, timeout=PATIENCE_S)  # LiveKit waits for 10 s
        passed, failed = map(sum, zip(*(run_checks(kind(server.address)) for kind in (LiveKitChecks, PipecatWriting, AgentsWriting, LangChainChecks))))
        if (code := server.stop()) != 0:
            failed += 1
            print(f"FAILED: the server ended with {code}:\n{''.join(server.log)}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
