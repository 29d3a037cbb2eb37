"""Recordings as the world makes them (phones, cameras, recorders, browsers, muxers), each made here and decoded under confinement.

usage: world_recordings.py LISTEN MYNAH_MEDIA [--all] [--only NAME] [--keep FOLDER]. One of each kind, or all, also through a pipe. The
sound rises from 300 Hz by 50 Hz a second, so that its time can be told from its pitch. Needs ffmpeg, and mkvmerge for some.
"""
import argparse
import array
import base64
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from checks import SKIPPED, Checks  # noqa: E402

SECONDS = 3
DATE = ["-metadata", "creation_time=2026-05-01T10:00:00Z"]
TEXT = ["-metadata", "title=Grüße – 会議", "-metadata", "artist=Ægir", "-metadata", "date=2026-05-01"]
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC")
CASES = []


def case(kind, name, seconds=SECONDS, first=0.0):
    """A recording of a kind: the function makes it at the path that it is given. `first`: the second of the sound that it begins with."""
    def add(make):
        CASES.append((kind, name, make, seconds, first))
        return make
    return add


def call(*words, **options):
    subprocess.run([str(word) for word in words], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.PIPE, **options)


def sound(rate=48000, seconds=SECONDS):
    return ["-f", "lavfi", "-i", f"aevalsrc=0.5*sin(2*PI*(300*t+25*t*t)):s={rate}:d={seconds}"]


def picture(seconds=SECONDS, size="128x96", rate=10):
    return ["-f", "lavfi", "-i", f"testsrc=duration={seconds}:size={size}:rate={rate}"]


def ffmpeg(out, *words, rate=48000, inputs=()):
    call("ffmpeg", "-v", "error", "-y", *sound(rate), *inputs, *words, out)


def simple(kind, name, *words, rate=48000, inputs=(), **more):
    case(kind, name, **more)(lambda out: ffmpeg(out, *words, rate=rate, inputs=inputs))


def film(kind, name, codec, audio, *words, **more):
    simple(kind, name, "-map", "1:v", "-map", "0:a", "-c:v", *codec, "-c:a", *audio, *words, inputs=picture(), **more)


# Dates, which FFmpeg turns into text.
simple("date m4a", "date.m4a", "-c:a", "aac", *DATE)
film("date mp4", "date.mp4", ["mpeg4"], ["aac"], *DATE)
film("date mov", "date.mov", ["mjpeg", "-pix_fmt", "yuvj420p"], ["pcm_s16be"], *DATE)
simple("date 3gp", "date.3gp", "-c:a", "aac", *DATE, rate=16000)
film("date flv", "date.flv", ["flv1"], ["libmp3lame"], *DATE, rate=44100)
film("date asf", "date.wmv", ["wmv2"], ["wmav2"], *DATE, *TEXT, rate=44100)
film("date mxf", "date.mxf", ["mpeg2video", "-r", "25"], ["pcm_s16le"], *DATE)
film("date webm", "date.webm", ["libvpx", "-b:v", "100k"], ["libopus"], *DATE)
simple("date mka", "date.mka", "-c:a", "flac", *DATE)
simple("date nut", "date.nut", "-c:a", "aac", *DATE)
simple("date ogg", "date.ogg", "-c:a", "libvorbis", *DATE, *TEXT)
simple("date caf", "date.caf", "-c:a", "alac", *DATE, *TEXT)
film("date avi", "date.avi", ["mpeg4"], ["libmp3lame"], *DATE, "-metadata", "ICRD=2026-05-01", *TEXT, rate=44100)
film("date mp4", "year1904.mp4", ["mpeg4"], ["aac"], "-metadata", "creation_time=1904-01-02T00:00:00Z")
film("date mp4", "year2100.mp4", ["mpeg4"], ["aac"], "-metadata", "creation_time=2100-01-02T00:00:00Z")


def merged(out, *words, codec=("-c:a", "libopus"), extension="webm"):
    """What mkvmerge, which writes a date of its own accord, makes of a sound."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / f"a.{extension}"
        ffmpeg(source, *codec)
        call("mkvmerge", "-q", "-o", out, *words, source)


case("mkvmerge", "merged.mkv")(merged)


@case("attachments", "font.mkv")
def _(out):
    with tempfile.TemporaryDirectory() as folder:
        font, cover = pathlib.Path(folder) / "a.ttf", pathlib.Path(folder) / "cover.png"
        font.write_bytes(b"\0\1\0\0" + bytes(5000))
        cover.write_bytes(PNG)
        merged(out, "--attachment-mime-type", "font/ttf", "--attach-file", font, "--attachment-mime-type", "image/png", "--attach-file", cover)


@case("chapters", "chapters.mka")
def _(out):
    with tempfile.TemporaryDirectory() as folder:
        chapters = pathlib.Path(folder) / "c.txt"
        chapters.write_text("CHAPTER01=00:00:00.000\nCHAPTER01NAME=Anfang\nCHAPTER02=00:00:01.500\nCHAPTER02NAME=続き\n")
        merged(out, "--chapters", chapters)


def with_chapters(out, *words):
    with tempfile.TemporaryDirectory() as folder:
        meta = pathlib.Path(folder) / "meta.txt"
        meta.write_text(";FFMETADATA1\ntitle=Buch\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=1500\ntitle=Eins\n[CHAPTER]\n"
                        "TIMEBASE=1/1000\nSTART=1500\nEND=3000\ntitle=二\n")
        ffmpeg(out, "-map", "0:a", "-map_metadata", "1", *words, inputs=["-i", meta])


case("chapters", "chapters.m4b")(lambda out: with_chapters(out, "-c:a", "aac", "-f", "ipod"))
case("chapters", "chapters.mp3")(lambda out: with_chapters(out, "-c:a", "libmp3lame"))
case("chapters", "chapters.opus")(lambda out: with_chapters(out, "-c:a", "libopus"))


# Tags in every encoding.
def id3(*frames, version=3, padding=0):
    body = b"".join(name + (len(data)).to_bytes(4, "big") + b"\0\0" + data for name, data in frames) + bytes(padding)
    size = len(body)
    return b"ID3" + bytes((version, 0, 0)) + bytes(((size >> 21) & 127, (size >> 14) & 127, (size >> 7) & 127, size & 127)) + body


def tagged_mp3(out, front=b"", behind=b"", words=("-c:a", "libmp3lame", "-id3v2_version", "0", "-write_id3v1", "0")):
    ffmpeg(out, *words)
    out.write_bytes(front + out.read_bytes() + behind)


APE = b"APETAGEX" + struct.pack("<IIIQ", 2000, 32 + 8 + 6 + 4, 1, 0)
case("tags UTF-16", "utf16.mp3")(lambda out: tagged_mp3(out, id3(
    (b"TIT2", b"\1" + "会議 – Grüße".encode("utf-16")), (b"TDRC", b"\0002026-05-01"), (b"COMM", b"\1eng\xff\xfe\0\0" + "x".encode("utf-16")))))
case("tags Latin-1", "latin1.mp3")(lambda out: tagged_mp3(out, id3((b"TIT2", b"\0Gr\xfc\xdfe"), (b"TYER", b"\0002026"))))
case("tags Shift-JIS", "sjis.mp3")(lambda out: tagged_mp3(out, id3((b"TIT2", b"\0" + "会議の録音".encode("shift-jis")))))
case("tags UTF-16", "utf16be.mp3")(lambda out: tagged_mp3(out, id3((b"TIT2", b"\2" + "会議".encode("utf-16-be")), (b"TPE1", b"\3\xf0\x9f\x8e\xa4"))))
case("tags broken", "broken.mp3")(lambda out: tagged_mp3(out, id3((b"TIT2", b"\1\xff\xfe\0\xd8a"), (b"TXXX", b"\3\xff\xff\0\xc0\x80"))))
case("tags padding", "padding.mp3")(lambda out: tagged_mp3(out, id3((b"TIT2", b"\0a"), padding=300000)))
case("tags APE", "ape.mp3")(lambda out: tagged_mp3(
    out, behind=struct.pack("<II", 4, 0) + b"Title\0" + "ü界".encode()[:4] + APE + bytes(0) + b"TAG" + b"Gr\xfc\xdfe".ljust(125, b"\0")))
simple("tags MP4", "tags.m4a", "-c:a", "aac", *TEXT, "-metadata", "lyrics=la\nla", "-metadata", "location=+52.5+013.4/")
simple("tags MOV", "keys.mov", "-c:a", "aac", *TEXT, "-movflags", "use_metadata_tags", "-metadata",
       "com.apple.quicktime.make=Apple", "-metadata", "com.apple.quicktime.creationdate=2026-05-01T10:00:00+0200", "-f", "mov")


@case("tags INFO", "info.wav")
def _(out):
    ffmpeg(out, "-c:a", "adpcm_ms")
    title = "会議".encode("shift-jis") + b"\0\0"
    info = b"INFOINAM" + struct.pack("<I", len(title)) + title + b"ICRD" + struct.pack("<I", 12) + b"2026-05-01\0\0"
    out.write_bytes(out.read_bytes() + b"LIST" + struct.pack("<I", len(info)) + info)


# Pictures that come along.
def covered(out, *words):
    with tempfile.TemporaryDirectory() as folder:
        cover = pathlib.Path(folder) / "cover.png"
        cover.write_bytes(PNG)
        ffmpeg(out, "-map", "0:a", "-map", "1:v", "-disposition:v", "attached_pic", *words, inputs=["-i", cover])


case("cover mp3", "cover.mp3")(lambda out: covered(out, "-c:a", "libmp3lame", "-c:v", "copy"))
case("cover m4a", "cover.m4a")(lambda out: covered(out, "-c:a", "aac", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p"))
case("cover m4a", "cover_alac.m4a")(lambda out: covered(out, "-c:a", "alac", "-c:v", "copy"))
case("cover flac", "cover.flac")(lambda out: covered(out, "-c:a", "flac", "-c:v", "copy"))
BLOCK = base64.b64encode(struct.pack(">II9sI", 3, 9, b"image/png", 0) + struct.pack(">IIIII", 1, 1, 24, 0, len(PNG)) + PNG).decode()
simple("cover ogg", "cover.ogg", "-c:a", "libvorbis", "-metadata", f"METADATA_BLOCK_PICTURE={BLOCK}")
simple("cover ogg", "cover.opus", "-c:a", "libopus", "-metadata", f"METADATA_BLOCK_PICTURE={BLOCK}")
case("cover wma", "cover.wma")(lambda out: covered(out, "-c:a", "wmav2", "-c:v", "copy"))


# Tracks of data beside.
def with_data(out, fourcc):
    """An iPhone's or a GoPro's timed metadata: a track of text whose kind is renamed."""
    with tempfile.TemporaryDirectory() as folder:
        text = pathlib.Path(folder) / "a.srt"
        text.write_text("1\n00:00:00,000 --> 00:00:01,000\na\n\n2\n00:00:01,000 --> 00:00:02,500\nb\n")
        ffmpeg(out, "-map", "1:v", "-map", "0:a", "-map", "2:s", "-c:v", "mpeg4", "-c:a", "aac", "-c:s", "mov_text", "-f", "mov", *DATE,
               inputs=[*picture(), "-i", text])
    out.write_bytes(out.read_bytes().replace(b"tx3g", fourcc).replace(b"sbtl", b"meta"))


case("timed metadata", "iphone.mov")(lambda out: with_data(out, b"mebx"))
case("timed metadata", "gopro.mp4")(lambda out: with_data(out, b"gpmd"))
case("timed metadata", "camm.mp4")(lambda out: with_data(out, b"camm"))
film("time code", "timecode.mov", ["mpeg4"], ["pcm_s16le"], "-timecode", "10:00:00:00", *DATE)
film("time code", "timecode.mxf", ["mpeg2video", "-r", "25"], ["pcm_s24le"], "-timecode", "10:00:00:00", *DATE)


# Edit lists: the pictures since the first are there, hidden.
def cut(out, *words, start=1):
    with tempfile.TemporaryDirectory() as folder:
        whole = pathlib.Path(folder) / "whole.mp4"
        ffmpeg(whole, "-map", "1:v", "-map", "0:a", "-c:v", "mpeg4", "-g", "100", "-c:a", "aac", inputs=picture())
        call("ffmpeg", "-v", "error", "-y", "-ss", start, "-i", whole, "-c", "copy", *words, out)


case("edit list", "trimmed.mp4", seconds=2, first=1)(cut)
case("edit list", "trimmed.mov", seconds=2, first=1)(lambda out: cut(out, "-f", "mov"))
case("edit list", "trimmed.m4a", seconds=2, first=1)(lambda out: cut(out, "-vn"))
film("rotated", "rotated.mp4", ["mpeg4"], ["aac"], "-metadata:s:v", "rotate=90", *DATE)
film("late sound", "late.mp4", ["mpeg4"], ["aac"], "-af", "asetpts=PTS+1.5/TB", *DATE, seconds=4.5, first=-1.5)
film("late sound", "late.mkv", ["mpeg4"], ["ac3"], "-af", "asetpts=PTS+1.5/TB", seconds=4.5, first=-1.5)
film("late sound", "late.avi", ["mpeg4"], ["aac"], "-af", "asetpts=PTS+1.5/TB", seconds=4.5, first=-1.5)
film("late sound", "late.ts", ["mpeg2video", "-r", "25"], ["mp2"], "-af", "asetpts=PTS+1.5/TB", seconds=4.5, first=-1.5)

# Pictures beside the sound.
film("HEVC", "hevc.mp4", ["libx265", "-preset", "ultrafast", "-x265-params", "log-level=none", "-tag:v", "hvc1"], ["aac"], *DATE)
film("HEVC", "hevc.ts", ["libx265", "-preset", "ultrafast", "-x265-params", "log-level=none"], ["aac"])
film("HEVC", "hevc.mkv", ["libx265", "-preset", "ultrafast", "-x265-params", "log-level=none"], ["eac3"], *DATE)
film("H.264", "h264.ts", ["libx264", "-preset", "ultrafast"], ["ac3"])
film("H.264", "h264.flv", ["libx264", "-preset", "ultrafast"], ["aac"], *DATE)
film("H.264", "h264.mp4", ["libx264", "-preset", "ultrafast"], ["aac"], *DATE, *TEXT)
film("H.264", "h264.mts", ["libx264", "-preset", "ultrafast"], ["ac3"], "-f", "mpegts", "-mpegts_m2ts_mode", "1")
film("VP9", "vp9.webm", ["libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-b:v", "50k"], ["libopus"], *DATE)
film("VP9", "vp9.mp4", ["libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-b:v", "50k"], ["libopus"], *DATE)
film("AV1", "av1.mp4", ["libaom-av1", "-cpu-used", "8", "-usage", "realtime"], ["aac"], *DATE)
film("AV1", "av1.webm", ["libaom-av1", "-cpu-used", "8", "-usage", "realtime"], ["libopus"])
film("Theora", "theora.ogv", ["libtheora"], ["libvorbis"], *DATE)
film("MPEG", "film.mpg", ["mpeg2video", "-r", "25"], ["mp2"])
film("MPEG", "film.vob", ["mpeg2video", "-r", "25"], ["ac3"])
film("DV", "tape.dv", ["dvvideo"], ["pcm_s16le"], "-target", "pal-dv", "-ac", "2")
film("ProRes", "prores.mov", ["prores_ks"], ["pcm_s24le"], *DATE)
film("MJPEG", "camera.avi", ["mjpeg", "-pix_fmt", "yuvj420p"], ["pcm_u8"], *DATE, rate=11025)

# Space.
AMBISONIC = ["-af", "pan=4.0|c0=c0|c1=0*c0|c2=0*c0|c3=0*c0", "-c:a", "libopus", "-mapping_family", "255"]
simple("surround", "surround.m4a", "-af", "pan=5.1|FC=c0", "-c:a", "aac", *DATE)
simple("surround", "surround.ac3", "-af", "pan=5.1|FC=c0", "-c:a", "ac3")
simple("surround", "surround.opus", "-af", "pan=5.1|FC=c0", "-c:a", "libopus")
simple("surround", "surround.dts", "-af", "pan=5.1(side)|FC=c0", "-c:a", "dca", "-strict", "-2")
simple("spatial", "spatial.mka", *AMBISONIC)

# Streams.
FRAGMENTS = "frag_keyframe+empty_moov+default_base_moof"
film("fragmented", "fragmented.mp4", ["libx264", "-preset", "ultrafast", "-g", "5"], ["aac"], "-movflags", FRAGMENTS, *DATE)
simple("fragmented", "dash.m4a", "-c:a", "aac", "-movflags", "dash+frag_keyframe+empty_moov", "-frag_duration", "500000", *DATE)
simple("fragmented", "hybrid.mov", "-c:a", "aac", "-movflags", "frag_keyframe", "-frag_duration", "500000", "-f", "mov", *DATE)


def streamed(out, *words, **more):
    """Written to a pipe: no length, no index."""
    with open(out, "wb") as file:
        subprocess.run(["ffmpeg", "-v", "error", *sound(), *more.get("inputs", []), *words, "-"], check=True, stdin=subprocess.DEVNULL, stdout=file)


case("MediaRecorder", "recorder.webm")(lambda out: streamed(out, "-c:a", "libopus", "-f", "webm", "-live", "1"))
case("MediaRecorder", "recorder_video.webm")(lambda out: streamed(
    out, "-map", "1:v", "-map", "0:a", "-c:v", "libvpx", "-b:v", "50k", "-c:a", "libopus", "-f", "webm", inputs=picture()))
case("MediaRecorder", "recorder.mp4")(lambda out: streamed(out, "-c:a", "aac", "-f", "mp4", "-movflags", FRAGMENTS, *DATE))
case("MediaRecorder", "recorder.ogg")(lambda out: streamed(out, "-c:a", "libopus", "-f", "ogg"))
case("MediaRecorder", "recorder.flv")(lambda out: streamed(out, "-c:a", "aac", "-f", "flv", *DATE))
simple("TS", "wrap.ts", "-c:a", "aac", "-output_ts_offset", "95442.5", "-metadata", "service_name=Grüße", "-metadata", "service_provider=会議")
simple("TS", "latm.ts", "-c:a", "aac", "-mpegts_flags", "latm")


@case("TS", "joined.ts", seconds=6)
def _(out):
    ffmpeg(out, "-c:a", "mp2")
    out.write_bytes(out.read_bytes() * 2)


# Codecs and containers of their own.
simple("3GP", "phone.3g2", "-c:a", "aac", *DATE)
simple("ALAC", "memo.m4a", "-c:a", "alac", *DATE)
simple("QTA", "memo.qta", "-c:a", "aac", "-f", "mov", *DATE)
simple("CAF", "memo.caf", "-c:a", "pcm_s16be", rate=16000)
simple("CAF", "ima.caf", "-c:a", "adpcm_ima_qt", rate=44100)
simple("CAF", "opus.caf", "-c:a", "libopus")
simple("WMA", "old.wma", "-c:a", "wmav1", *TEXT, *DATE, rate=44100)
simple("MP3", "vbr.mp3", "-c:a", "libmp3lame", "-q:a", "4", *TEXT)
simple("MP3", "abr.mp3", "-c:a", "libmp3lame", "-abr", "1", "-b:a", "96k")
simple("MP3", "no_header.mp3", "-c:a", "libmp3lame", "-write_xing", "0", "-id3v2_version", "0", rate=44100)
simple("MP3", "low.mp3", "-c:a", "libmp3lame", rate=8000)
simple("MP2", "radio.mp2", "-c:a", "mp2")
simple("AAC", "radio.aac", "-c:a", "aac")
simple("AC-3", "film.eac3", "-c:a", "eac3")
simple("Speex", "call.spx", "-c:a", "libspeex", rate=16000)
simple("FLAC", "sound.oga", "-c:a", "flac", *DATE)
simple("TTA", "sound.tta", "-c:a", "tta")
simple("WavPack", "sound.wv", "-c:a", "wavpack", *TEXT)
simple("GSM", "call.wav", "-c:a", "libgsm_ms", rate=8000)
simple("ADPCM", "adpcm.wav", "-c:a", "adpcm_ima_wav", rate=16000)
simple("G.726", "g726.wav", "-c:a", "g726", "-b:a", "32k", rate=8000)
simple("G.722", "g722.wav", "-c:a", "g722", rate=16000)
simple("AU", "sound.au", "-c:a", "pcm_mulaw", rate=8000)
simple("AIFF", "sound.aiff", "-c:a", "pcm_s16be", *TEXT, "-write_id3v2", "1")
simple("AIFF", "sound.aifc", "-c:a", "pcm_alaw", "-f", "aiff", rate=8000)
simple("broadcast WAV", "bext.wav", "-c:a", "pcm_s24le", "-write_bext", "1", "-metadata", "origination_date=2026-05-01")
simple("RF64", "long.wav", "-c:a", "pcm_s16le", "-rf64", "always")
simple("Wave64", "sound.w64", "-c:a", "pcm_s16le")
simple("VOC", "sound.voc", "-c:a", "pcm_u8", rate=22050)
simple("Real", "old.rm", "-c:a", "ac3")
simple("Matroska", "aac.mka", "-c:a", "aac", *DATE)
simple("Matroska", "pcm.mkv", "-c:a", "pcm_s16le", *DATE)
simple("Matroska", "mp3.mkv", "-c:a", "libmp3lame", *DATE)


def fault_of(listen, media, path, scratch, seconds, first, piped=False):
    samples = scratch / "samples.f32"
    with open(path, "rb") if piped else open("/dev/null", "rb") as stdin:
        words = ["sh", "-c", 'cat | "$0" - "$1" "$2"'] if piped else None
        command = [*words, listen, media, samples] if piped else [listen, path, media, samples]
        result = subprocess.run([str(word) for word in command], stdin=stdin, capture_output=True, text=True, timeout=60, check=False)
    said = [line for line in result.stderr.splitlines() if not line.startswith("mynah-media ")]
    if result.returncode != 0 or said:
        return f"exit code {result.returncode}, said {said}"
    sound_at = array.array("f", samples.read_bytes())
    if abs(len(sound_at) / 16000 - seconds) > 0.35:
        return f"wanted {seconds} s, found {len(sound_at) / 16000:.3f} s"
    for at in (0.6 - min(first, 0), seconds - 0.7):
        begin = int((at - 0.1) * 16000)
        window = sound_at[begin:begin + 3200]
        crossings = sum(1 for a, b in zip(window, window[1:]) if a < 0 <= b) / 0.2
        wanted = 300 + 50 * ((at + first) % SECONDS if seconds > SECONDS and first == 0 else at + first)
        if abs(crossings - wanted) > 20:
            return f"wanted about {wanted:.0f} Hz at {at:.1f} s, found {crossings:.0f}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("listen")
    parser.add_argument("media")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", default="")
    options = parser.parse_args()
    if shutil.which("ffmpeg") is None:
        print("skipped: no ffmpeg")
        sys.exit(SKIPPED)
    checks = Checks()
    done = set()
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(options.keep or work)
        for kind, name, make, seconds, first in CASES:
            if options.only not in name or (kind in done and not options.all):
                continue
            done.add(kind)
            path = folder / name
            title = f"{kind}: {name}"
            try:
                make(path)
            except FileNotFoundError as missing:
                checks.skip(title, missing)
                continue
            except subprocess.CalledProcessError as failed:
                checks.skip(title, f"could not be made: {(failed.stderr or b'').decode(errors='replace').strip()[-200:]}")
                continue
            checks.add(title, fault_of(options.listen, options.media, path, pathlib.Path(work), seconds, first))
            if options.all:
                checks.add(f"{title} through a pipe",
                           fault_of(options.listen, options.media, path, pathlib.Path(work), seconds, first, piped=True))
    checks.close()


main()
