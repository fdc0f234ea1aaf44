//! The phrases by which a task opens, in the languages that people write to Claude Code, in lower case.

/// Words that continue something, by language.
pub(super) const CONTINUATION: [&str; 10] = [
    // English
    "and, but, also, now, ok, okay, yes, yeah, yep, y, no, nope, so, then, great, good, nice, \
     perfect, cool, thanks, thank you, continue, go, go on, go ahead, keep, keep going, next, \
     still, wait, actually, again, it, it's, that, that's, this, these, those, they, there, \
     commit, push, merge, amend, revert, do, do it, try, option, because, what's, whats, looks, \
     same, alright, sure, fine, done, proceed, resume, finish, more, few more, a few more, \
     some more, one more, another, instead, hmm, well, let's continue, let's go on, \
     can you continue, please continue, can we continue, back to",
    // German
    "und, aber, auch, jetzt, nun, ja, nein, nee, doch, dann, weiter, mach weiter, bitte weiter, \
     nochmal, noch, noch mal, wieder, das, dies, diese, dieser, dieses, es, passt, gut, super, \
     danke, perfekt, genau, stimmt, warte, eigentlich, stattdessen, weitermachen, zurück zu",
    // French
    "et, mais, aussi, maintenant, oui, non, d'accord, alors, puis, ensuite, continuez, encore, \
     ça, cela, c'est, ce, ces, parfait, merci, bien, vas-y, attends, en fait, du coup, pareil, \
     continue, continuer, continuons, reprends, reviens",
    // Spanish
    "pero, también, ahora, sí, si, vale, entonces, luego, continúa, continua, sigue, otra vez, \
     de nuevo, eso, esto, esta, perfecto, gracias, genial, espera, en realidad, adelante, \
     lo mismo, continuar, seguir, sigamos, vuelve",
    // Portuguese
    "mas, também, agora, sim, não, então, depois, de novo, isso, isto, perfeito, obrigado, \
     obrigada, ótimo, beleza, na verdade, pode continuar, continue, continuar, continua, \
     vamos continuar, volte, volta, segue",
    // Italian
    "ma, anche, ora, adesso, sì, allora, poi, ancora, di nuovo, questo, questa, quello, \
     perfetto, grazie, bene, aspetta, in realtà, procedi, vai avanti, continua, continuare, \
     continuiamo, torna",
    // Dutch
    "en, maar, ook, nu, nee, oké, dan, ga door, verder, weer, dat, dit, deze, bedankt, goed, \
     wacht",
    // Russian and Ukrainian
    "и, но, а, также, теперь, да, нет, ок, хорошо, тогда, потом, продолжай, продолжи, дальше, \
     ещё, еще, снова, это, этот, эти, отлично, спасибо, подожди, давай дальше, і, але, також, \
     тепер, так, ні, далі, ще, це, дякую, продовжуй",
    // Polish
    "ale, też, teraz, tak, nie, dobrze, więc, potem, kontynuuj, dalej, jeszcze, znowu, świetnie, \
     dzięki, poczekaj",
    // Turkish
    "ve, ama, ayrıca, şimdi, evet, hayır, tamam, sonra, devam, devam et, tekrar, yine, bu, şu, \
     harika, teşekkürler, bekle",
];

/// Words that ask for something, by language.
pub(super) const REQUEST: [&str; 10] = [
    // English
    "can you, can we, could you, could we, would you, please, pls, let's, lets, let us, i want, \
     i need, i have, i'd like, i would like, we need, we want, we have, when, in the, \
     investigate, review, check, look, find, update, create, implement, fix, add, read, explain, \
     what, how, is, are, does, why, where, write, make, build, refactor, analyze, analyse, \
     set up, setup, help, use, remove, change, run, test, debug, was",
    // German
    "kannst du, könntest du, können wir, bitte, lass uns, ich möchte, ich will, ich brauche, \
     ich hätte gern, wir brauchen, wir müssen, erstelle, schreibe, schreib, prüfe, prüf, \
     untersuche, füge, implementiere, baue, bau, behebe, erkläre, erklär, wie, warum, wieso, \
     weshalb, wo, welche, welcher, welches, ist, gibt es, finde, such, suche, aktualisiere, \
     analysiere, überprüfe, lies, zeige, zeig, entferne, ändere, teste",
    // French
    "peux-tu, peux tu, tu peux, pouvez-vous, pourrais-tu, s'il te plaît, s'il vous plaît, \
     je veux, je voudrais, j'ai besoin, il faut, crée, créer, écris, ajoute, ajouter, corrige, \
     vérifie, explique, comment, pourquoi, qu'est-ce, quel, quelle, où, est-ce que, implémente, \
     trouve, cherche, mets à jour, lis, montre, supprime",
    // Spanish
    "puedes, podrías, podemos, por favor, quiero, necesito, necesitamos, crea, escribe, añade, \
     agrega, arregla, revisa, explica, cómo, qué, por qué, dónde, cuál, implementa, busca, \
     encuentra, analiza, actualiza, lee, muestra, elimina, hay",
    // Portuguese
    "pode, você pode, poderia, por favor, quero, preciso, precisamos, crie, cria, escreva, \
     adicione, corrija, verifique, revise, explique, como, o que, por que, onde, qual, \
     implemente, busque, procure, encontre, analise, atualize, leia, mostre, remova",
    // Italian
    "puoi, potresti, per favore, voglio, vorrei, ho bisogno, dobbiamo, scrivi, aggiungi, \
     correggi, controlla, verifica, spiega, cosa, perché, dove, quale, cerca, trova, analizza, \
     aggiorna, leggi, mostra, rimuovi",
    // Dutch
    "kun je, kan je, kunt u, graag, alsjeblieft, ik wil, ik heb, we moeten, maak, schrijf, voeg, \
     controleer, leg uit, hoe, wat, waarom, waar, welke, implementeer, zoek, vind, analyseer, \
     lees, toon, verwijder",
    // Russian and Ukrainian
    "можешь, можете, пожалуйста, давай, хочу, мне нужно, нам нужно, нужно, надо, создай, напиши, \
     добавь, исправь, проверь, объясни, как, что, почему, где, какой, реализуй, найди, \
     проанализируй, обнови, прочитай, покажи, удали, можеш, будь ласка, потрібно, створи, додай, \
     виправ, перевір, поясни, чому, знайди",
    // Polish
    "czy możesz, możesz, proszę, chcę, potrzebuję, musimy, stwórz, napisz, dodaj, napraw, \
     sprawdź, wyjaśnij, jak, dlaczego, gdzie, który, zaimplementuj, znajdź, przeanalizuj, \
     zaktualizuj, przeczytaj, pokaż, usuń",
    // Turkish
    "lütfen, istiyorum, oluştur, yaz, ekle, düzelt, kontrol et, açıkla, nasıl, neden, nerede, \
     hangi, uygula, bul, analiz et, güncelle, oku, göster, kaldır",
];

/// Beginnings of a continuation where words are not set apart: Chinese, Japanese, Korean.
pub(super) const CONTINUATION_STEMS: &str = "继续, 请继续, 接着, 然后, 还有, 另外, 好, 是的, 对, 不, 可以, 行, 那, 这, 再, 也, 但是, 现在, 谢谢, 嗯, 提交, 同样, 选项, 方案, 続け, \
     つづけ, 次, では, じゃあ, それ, これ, その, この, あと, また, さらに, もう, はい, いいえ, うん, 了解, ありがとう, でも, しかし, やっぱり, \
     그리고, 그럼, 그런데, 계속, 이제, 다시, 좋아";

/// Beginnings of a request in languages without spaces.
pub(super) const REQUEST_STEMS: &str = "请, 帮我, 帮忙, 能不能, 能否, 可以帮, 可以请, 你能, 我想, 我要, 我需要, 我们需要, 需要, 创建, 新建, 写, 添加, 增加, 修复, 检查, 解释, 怎么, \
     如何, 为什么, 什么, 哪, 实现, 查找, 找, 分析, 更新, 看看, 显示, 删除, 优化, 重构, なぜ, どう, 어떻게, 왜";

/// Endings of a request in Japanese and Korean.
pub(super) const REQUEST_ENDINGS: &str = "てください, て下さい, して, てほしい, 教えて, ですか, ますか, たい, 줘, 주세요, 할까, 인가요, 나요, 세요";

/// Words that refer to something said before.
pub(super) const BACK: &str = "this, that, these, those, it, its, them, other, others, same, again, above, remaining, das, \
     dies, diese, dieser, dieses, es, ça, cela, ces, eso, esto, esos, estos, isso, isto, essas, \
     esses, questo, questi, dat, dit, deze, это, этот, эти, bunu, şunu, tego, tych";

/// Such words in languages without spaces.
pub(super) const BACK_STEMS: &str = "这, 那, 它, 其他, それ, これ, この, その, 그거";

/// Verbs for what was just done, which ask for nothing new whatever politeness is in front of them.
pub(super) const FOLLOW_UPS: &str = "commit, push, merge, amend, revert, rebase, undo, retry, continue, proceed, resume, finish, committe, committen, pushe, pushen, \
     weitermachen, fortfahren, committer, pousser, continuer, terminer, continuar, terminar, seguir, continuare, finire, doorgaan, afmaken";

/// Polite or inviting words in front of a verb.
pub(super) const POLITE: &str = "please, pls, can you, could you, can we, could we, would you, let's, lets, ok, okay, now, great, perfect, and, then, bitte, \
     kannst du, können wir, peux-tu, tu peux, s'il te plaît, puedes, podemos, por favor, você pode, podemos, vamos, puoi, \
     possiamo, per favore, kun je, graag";

/// Questions about the state of what was begun, found anywhere in a short task.
pub(super) const STATUS: &str = "things stand, where are we, where were we, where did we leave, leave off, left off, where did we stop, did we stop, \
     how's it going, how is it going, how are things going, run going, how far, what's left, what is left, whats left, what remains, \
     what's next, what is next, whats next, what's the status, what is the status, any progress, \
     wo stehen wir, wo waren wir, wie weit, stand der dinge, was fehlt noch, was steht noch, où en, on en est, ce qui reste, \
     dónde estamos, dónde quedamos, cómo va, qué falta, onde paramos, onde estamos, como está indo, o que falta, \
     a che punto, dove eravamo, cosa manca, waar waren we, hoe ver, hoe staat het, на чём мы, на чем мы, что осталось, \
     что дальше, na czym skończyliśmy, co zostało, nerede kaldık, ne kaldı, 进度, 进展, 到哪, 做到哪, どこまで, 進捗, 어디까지, 진행 상황";
