#!/usr/bin/env bash
# Makes tests/audio/data: small recordings in the containers that only mynah-media reads. Needs
# ffmpeg (made with 5.1). The sound rises from 300 Hz by 50 Hz a second, so that its time can be
# told from its pitch.
set -eu
cd "$(dirname "$0")/../tests/audio/data"
make() { ffmpeg -hide_banner -loglevel error -y -bitexact "$@"; }
rise() { echo "aevalsrc=0.5*sin(2*PI*(300*t+25*t*t)):s=$1:d=$2"; }
picture() { echo "testsrc=duration=$1:size=64x48:rate=5"; }

make -f lavfi -i "$(rise 16000 14)" -c:a aac -b:a 12k rise.m4a
make -f lavfi -i "$(rise 16000 14)" -c:a aac -b:a 12k -movflags +faststart rise_index_first.m4a
make -f lavfi -i "$(rise 48000 14)" -c:a libopus -b:a 12k rise.webm
make -f lavfi -i "$(rise 16000 2)" -c:a wmav2 -b:a 32k rise.wma
make -f lavfi -i "$(rise 16000 2)" -c:a mp2 -b:a 32k rise.ts
make -f lavfi -i "$(rise 16000 2)" -c:a aac -b:a 12k rise.aac
make -f lavfi -i "$(rise 16000 2)" -f lavfi -i "$(picture 4)" -c:v mpeg4 -q:v 31 -c:a aac -b:a 12k film.mp4
make -f lavfi -i "$(picture 1)" -c:v mpeg4 -q:v 31 silent_film.mp4
make -f lavfi -i "$(rise 16000 0.2)" -af "pan=stereo|c0=c0|c1=0*c0" -c:a alac left_only.m4a
