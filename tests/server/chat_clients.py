"""Language models over HTTP as openai-python and ollama's package ask, with SmolLM2's real weights."""
import json

import ollama
import openai
import pydantic

HELLO = [{"role": "user", "content": "What is the capital of France? Answer in one sentence."}]
LAMP = {
    "type": "function",
    "function": {
        "name": "HassTurnOn",
        "description": "Turns on a device",
        "parameters": {
            "type": "object",
            "properties": {"name": {"type": "string", "enum": ["hall", "desk"]}},
            "required": ["name"],
        },
    },
}


class Room(pydantic.BaseModel):
    name: str
    windows: int


class ChatChecks:
    def __init__(self, address, key):
        self.client = openai.OpenAI(base_url=f"{address}/v1", api_key=key, max_retries=0, timeout=60)
        self.ollama = ollama.Client(address, headers={"Authorization": f"Bearer {key}"})

    def ask(self, **fields):
        return self.client.chat.completions.create(**{"model": "gpt-4o-mini", "messages": HELLO, "temperature": 0, "max_tokens": 24} | fields)

    def check_whole_and_stream(self):
        whole = self.ask()
        said = whole.choices[0].message
        assert "Paris" in said.content and said.role == "assistant", said
        assert whole.usage.total_tokens == whole.usage.prompt_tokens + whole.usage.completion_tokens
        parts = list(self.ask(stream=True, stream_options={"include_usage": True}))
        assert "".join(part.choices[0].delta.content or "" for part in parts if part.choices) == said.content
        assert parts[0].choices[0].delta.role == "assistant" and parts[-1].usage.completion_tokens == whole.usage.completion_tokens
        assert parts[-2].choices[0].finish_reason == whole.choices[0].finish_reason
        assert parts[-1].usage.prompt_tokens_details.cached_tokens > 20

    def check_many_replies_and_log_probabilities(self):
        told = self.ask(n=2, seed=3, temperature=1.5, logprobs=True, top_logprobs=3)
        assert [one.index for one in told.choices] == [0, 1] and told.choices[0].message.content != told.choices[1].message.content
        tokens = told.choices[0].logprobs.content
        assert len(tokens[0].top_logprobs) == 3 and tokens[0].logprob <= 0
        assert bytes(byte for one in tokens for byte in one.bytes).decode(errors="replace").startswith(told.choices[0].message.content[:5])

    def check_replies_side_by_side(self):
        fields = {"temperature": 1.5, "max_tokens": 12}
        all_at_once = self.ask(n=8, seed=20, **fields)
        alone = [self.ask(seed=20 + i, **fields) for i in range(8)]
        assert [one.message.content for one in all_at_once.choices] == [one.choices[0].message.content for one in alone]
        assert all_at_once.usage.prompt_tokens == alone[0].usage.prompt_tokens
        assert all_at_once.usage.completion_tokens == sum(one.usage.completion_tokens for one in alone)
        said = [""] * 8
        turns = []
        for part in self.ask(n=8, seed=20, stream=True, **fields):
            for one in part.choices:
                said[one.index] += one.delta.content or ""
                turns.append(one.index)
        assert said == [one.message.content for one in all_at_once.choices]
        assert sum(a != b for a, b in zip(turns, turns[1:])) > 7, f"one after the other: {turns}"

    def check_tool_that_is_wanted(self):
        wanted = {"tools": [LAMP], "tool_choice": {"type": "function", "function": {"name": "HassTurnOn"}}, "max_tokens": 100}
        whole = self.ask(**wanted).choices[0]
        call = whole.message.tool_calls[0].function
        assert whole.finish_reason == "tool_calls" and call.name == "HassTurnOn"
        assert json.loads(call.arguments)["name"] in ("hall", "desk")
        with self.client.chat.completions.stream(model="x", messages=HELLO, temperature=0, **wanted) as stream:
            final = stream.get_final_completion().choices[0].message.tool_calls[0].function
        assert (final.name, final.arguments) == (call.name, call.arguments)

    def check_schema(self):
        messages = [{"role": "user", "content": "Describe a kitchen with two windows as JSON."}]
        told = self.client.chat.completions.parse(model="gpt-4o", messages=messages, temperature=0, max_tokens=200, response_format=Room)
        assert isinstance(told.choices[0].message.parsed, Room), told
        mode = self.ask(messages=messages, response_format={"type": "json_object"}, max_tokens=300).choices[0]
        assert mode.finish_reason == "length" or isinstance(json.loads(mode.message.content), dict)

    def check_errors(self):
        for fields, code in (({"messages": [{"role": "user", "content": "word " * 20000}]}, "context_length_exceeded"), ({"n": 0}, None)):
            try:
                self.ask(**fields)
                raise AssertionError(f"wanted an error of {list(fields)}")
            except openai.BadRequestError as told:
                assert told.code == code and told.param == list(fields)[0], (told.code, told.param)

    def check_text(self):
        told = self.client.completions.create(model="x", prompt="The capital of France is", temperature=0, max_tokens=6)
        assert "Paris" in told.choices[0].text, told
        assert "".join(part.choices[0].text for part in self.client.completions.create(
            model="x", prompt="The capital of France is", temperature=0, max_tokens=6, stream=True)) == told.choices[0].text

    def check_responses(self):
        told = self.client.responses.create(model="gpt-5", input=HELLO, temperature=0, max_output_tokens=24)
        assert "Paris" in told.output_text and told.usage.output_tokens <= 24, told
        events = list(self.client.responses.create(model="gpt-5", input=HELLO, temperature=0, max_output_tokens=24, stream=True))
        assert "".join(one.delta for one in events if one.type == "response.output_text.delta") == told.output_text
        assert events[0].type == "response.created" and events[-1].response.output_text == told.output_text
        assert [one.sequence_number for one in events] == list(range(len(events)))
        tool = {"type": "function", **LAMP["function"]}
        called = self.client.responses.create(model="gpt-5", input="Light, please.", tools=[tool], tool_choice="required", max_output_tokens=100)
        assert called.output[0].type == "function_call" and json.loads(called.output[0].arguments)["name"] in ("hall", "desk")

    def check_models(self):
        told = {model.id: model.model_extra["task"] for model in self.client.models.list()}
        assert told["SmolLM2-135M-Instruct.Q4_1"] == "text-generation", told

    def name(self):
        return self.ollama.list().models[0].model

    def check_ollama_lists(self):
        assert self.name() == "SmolLM2-135M-Instruct.Q4_1:latest"
        shown = self.ollama.show(self.name())
        assert shown.capabilities[0] == "completion" and shown.modelinfo["llama.context_length"] == 8192
        self.ollama.generate(self.name(), "Hi.", options={"num_predict": 2})
        assert self.name() in [model.model for model in self.ollama.ps().models]

    def check_ollama_chat(self):
        options = {"temperature": 0, "num_predict": 24}
        whole = self.ollama.chat(self.name(), HELLO, options=options)
        assert "Paris" in whole.message.content and whole.done and whole.eval_count <= 24 and whole.total_duration > 0
        parts = list(self.ollama.chat(self.name(), HELLO, options=options, stream=True))
        assert "".join(part.message.content for part in parts) == whole.message.content
        assert [part.done for part in parts] == [False] * (len(parts) - 1) + [True] and parts[-1].done_reason in ("stop", "length")

    def check_ollama_generate(self):
        bound = self.ollama.generate(self.name(), "Describe a room.", format=Room.model_json_schema(), options={"temperature": 0, "num_predict": 200})
        Room.model_validate_json(bound.response)
        assert self.ollama.generate(self.name(), "").done_reason == "load"

    def check_ollama_errors(self):
        try:
            self.ollama.chat(self.name(), [{"role": "user", "content": "word " * 20000}])
            raise AssertionError("wanted an error")
        except ollama.ResponseError as told:
            assert told.status_code == 400 and "maximum context length is 8192" in told.error, told

    def check_home_assistants_ollama(self):
        """components/ollama/entity.py: streamed, with tools, a context and a time to be kept."""
        messages = [{"role": "system", "content": "You are a voice assistant for Home Assistant."}, {"role": "user", "content": "Turn on the hall lamp."}]
        stream = self.ollama.chat(model=self.name(), messages=messages, tools=[LAMP], stream=True, keep_alive="-1s",
                                  options={"num_ctx": 8192, "num_predict": 40}, think=False)
        parts = list(stream)
        assert parts[-1].done and all(part.message.role == "assistant" for part in parts)
        messages += [{"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "HassTurnOn", "arguments": {"name": "hall"}}}]},
                     {"role": "tool", "content": json.dumps({"success": True})}]
        assert list(self.ollama.chat(model=self.name(), messages=messages, tools=[LAMP], stream=True, options={"num_ctx": 8192, "num_predict": 8}))[-1].done

    def check_home_assistants_llama_cpp(self):
        """Unstreamed, with a strict schema, and ten rounds of tools at most."""
        schema = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": {
            "type": "object", "properties": {"speech": {"type": "string", "maxLength": 40}}, "required": ["speech"], "additionalProperties": False}}}
        messages = [{"role": "system", "content": "You are a voice assistant for Home Assistant."}, {"role": "user", "content": "Turn on the hall lamp."}]
        cached = []
        for turn in range(10):
            told = self.ask(messages=messages, tools=[LAMP], response_format=schema, max_tokens=100, tool_choice="required" if turn < 3 else "auto")
            message = told.choices[0].message
            cached.append(told.usage.prompt_tokens_details.cached_tokens)
            if not message.tool_calls:
                assert set(json.loads(message.content)) == {"speech"}, message
                break
            messages.append(message.to_dict())
            messages += [{"role": "tool", "tool_call_id": call.id, "content": '{"success": true}'} for call in message.tool_calls]
        assert turn >= 3 and cached[2] > 30, (turn, cached)
